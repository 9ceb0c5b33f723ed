package compat

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"barnabas/compat-tests/harness"
)

// TestTheImage builds the container image with buildah and runs what is in it, as
// the image's user, in the image's root.
func TestTheImage(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("buildah"); err != nil {
		t.Skip("buildah is not installed")
	}
	if os.Getuid() != 0 {
		t.Skip("building and entering an image here takes root")
	}
	tree := t.TempDir()
	copyInto(t, harness.Binary(t), filepath.Join(tree, "bin", "barnabas"))
	for _, f := range []string{"docker/Dockerfile", "docker/data/README", "scripts/image.sh"} {
		copyInto(t, filepath.Join("..", f), filepath.Join(tree, f))
	}
	store := t.TempDir()
	storage := []string{"--storage-driver", "vfs", "--root", filepath.Join(store, "root"), "--runroot", filepath.Join(store, "run")}
	build := exec.Command("bash", "scripts/image.sh", "barnabas:test")
	build.Dir = tree
	// Only buildah: the test is about it.
	build.Env = append(os.Environ(), "BUILDAH_STORAGE="+strings.Join(storage, " "), "PATH="+onlyBuildah(t))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("make image: %v\n%s", err, out)
	}
	buildah := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("buildah", append(storage, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("buildah %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	config := buildah("inspect", "--type", "image", "barnabas:test")
	for _, want := range []string{`"User": "65532:65532"`, `"/barnabas"`, `"health"`, "KAFKA_LOG_DIRS=/data"} {
		if !strings.Contains(config, want) {
			t.Errorf("the image's configuration lacks %s", want)
		}
	}
	root := buildah("mount", buildah("from", "--pull-never", "barnabas:test"))
	port := harness.FreePort(t)
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	inside := func(args ...string) *exec.Cmd {
		cmd := exec.Command("/barnabas", args...)
		cmd.Dir = "/"
		cmd.Env = []string{"KAFKA_LISTENERS=PLAINTEXT://" + addr, "KAFKA_LOG_DIRS=/data", "BARNABAS_METRICS_LISTENER="}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}, Pdeathsig: syscall.SIGKILL}
		return cmd
	}
	serve := inside("serve")
	var log strings.Builder
	serve.Stderr = &log
	if err := serve.Start(); err != nil {
		t.Skipf("a process cannot be started in the image's root here: %v", err)
	}
	healthy := false
	for deadline := time.Now().Add(10 * time.Second); !healthy && time.Now().Before(deadline); {
		healthy = inside("health", "--bootstrap", addr).Run() == nil
	}
	_ = serve.Process.Signal(syscall.SIGTERM)
	err := serve.Wait()
	if !healthy || err != nil {
		t.Errorf("healthy %v, end %v\n%s", healthy, err, log.String())
	}
}

// onlyBuildah is a PATH without docker and podman.
func onlyBuildah(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"buildah", "bash"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func copyInto(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}
