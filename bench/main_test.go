package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"barnabas/bench/scenario"
)

// TestMain lets the processes that the bench starts of its own binary be this
// test's binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "role" {
		main()
		return
	}
	os.Exit(m.Run())
}

// The whole harness runs against the null broker and leaves a report.
func TestAgainstTheNullBroker(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of both CPUs")
	}
	t.Parallel()
	dir := t.TempDir()
	if err := bench([]string{"-quick", "-pairs", "1", "-barnabas", scenario.Null, "-run", "S7,S10,S12,S13", "-out", dir}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "latest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report scenario.Report
	if err := json.Unmarshal(b, &report); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range report.Rows {
		seen[row.Scenario] = true
		if row.Ours.N == 0 {
			t.Errorf("%s %s has no sample", row.Scenario, row.What)
		}
	}
	for _, name := range []string{"S7", "S10", "S12", "S13"} {
		if !seen[name] {
			t.Errorf("no row of %s", name)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "run-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("directories left behind: %v, %v", left, err)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, word string }{
		{"-run S99 -out " + t.TempDir(), `"S99"`},
		{"extra", `"extra"`},
		{"-barnabas /no/such/binary -run S13 -quick -out " + t.TempDir(), "-barnabas"},
	} {
		err := bench(strings.Fields(c.args))
		if err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("bench %s: %v does not say %s", c.args, err, c.word)
		}
	}
	if err := role([]string{"king"}); err == nil || !strings.Contains(err.Error(), `"king"`) {
		t.Errorf("role king: %v", err)
	}
}
