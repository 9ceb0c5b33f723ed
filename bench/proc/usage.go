package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of /proc's CPU times (USER_HZ, 100 on every Linux).
const tick = 10 * time.Millisecond

// CPU is the processor time, user and kernel, of all threads so far.
func (c *Child) CPU() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	const user, system = 11, 12 // fields 14 and 15 of proc_pid_stat(5), counted behind the name
	if len(fields) <= system {
		return 0, fmt.Errorf("/proc stat has %d fields", len(fields))
	}
	u, errU := strconv.ParseInt(fields[user], 10, 64)
	s, errS := strconv.ParseInt(fields[system], 10, 64)
	if errU != nil || errS != nil {
		return 0, fmt.Errorf("/proc stat: %q %q", fields[user], fields[system])
	}
	return time.Duration(u+s) * tick, nil
}

// Memory is what a process holds, in bytes.
type Memory struct {
	RSS  int64 `json:"rss"`
	Anon int64 `json:"anon"` // without files mapped, the binary among them
	Peak int64 `json:"peak"` // the highest RSS so far
}

// Memory reads it.
func (c *Child) Memory() (Memory, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return Memory{}, err
	}
	var m Memory
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			m.RSS = kilobytes << 10
		case "RssAnon":
			m.Anon = kilobytes << 10
		case "VmHWM":
			m.Peak = kilobytes << 10
		}
	}
	return m, nil
}

// SelfCPU is this process's own processor time.
func SelfCPU() time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// Machine is the state of the machine at one moment.
type Machine struct {
	At       time.Time
	Load     float64       // 1 minute
	Busy     time.Duration // CPU time used by anybody, all CPUs
	Steal    time.Duration // taken by the hypervisor
	Pressure time.Duration // time in which something waited for a CPU
}

// ReadMachine reads it. What the kernel does not offer stays zero.
func ReadMachine() Machine {
	m := Machine{At: time.Now()}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _ = strconv.ParseFloat(strings.Fields(string(b))[0], 64)
	}
	if b, err := os.ReadFile("/proc/stat"); err == nil {
		line, _, _ := strings.Cut(string(b), "\n")
		for i, f := range strings.Fields(line)[1:] {
			n, _ := strconv.ParseInt(f, 10, 64)
			switch i {
			case 0, 1, 2, 5, 6: // user, nice, system, irq, softirq
				m.Busy += time.Duration(n) * tick
			case 7:
				m.Steal = time.Duration(n) * tick
			}
		}
	}
	if b, err := os.ReadFile("/proc/pressure/cpu"); err == nil {
		if _, total, ok := strings.Cut(string(b), "total="); ok {
			n, _ := strconv.ParseInt(strings.Fields(total)[0], 10, 64)
			m.Pressure = time.Duration(n) * time.Microsecond
		}
	}
	return m
}

// Noise is what disturbed a measurement.
type Noise struct {
	Load     float64 `json:"load"`         // 1 minute, at its end
	Foreign  float64 `json:"foreignCores"` // cores used by others than those measured
	Steal    float64 `json:"stealCores"`
	Pressure float64 `json:"cpuPressure"` // share of the time in which something waited for a CPU
}

// Since is the noise from before until now. own is the CPU time that the
// measured processes and the bench used in between.
func (m Machine) Since(before Machine, own time.Duration) Noise {
	elapsed := m.At.Sub(before.At).Seconds()
	if elapsed <= 0 {
		return Noise{Load: m.Load}
	}
	return Noise{
		Load:     m.Load,
		Foreign:  max(0, (m.Busy-before.Busy-own).Seconds()/elapsed),
		Steal:    (m.Steal - before.Steal).Seconds() / elapsed,
		Pressure: (m.Pressure - before.Pressure).Seconds() / elapsed,
	}
}

// Congestion is the machine's TCP congestion control.
func Congestion() string {
	b, err := os.ReadFile(congestionFile)
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}

const congestionFile = "/proc/sys/net/ipv4/tcp_congestion_control"

// SetCongestion changes it for the whole machine; restore puts the old one back.
func SetCongestion(name string) (restore func(), err error) {
	old := Congestion()
	if err := os.WriteFile(congestionFile, []byte(name), 0o644); err != nil {
		return nil, fmt.Errorf("set the machine's congestion control to %s: %w (needs root)", name, err)
	}
	return func() { _ = os.WriteFile(congestionFile, []byte(old), 0o644) }, nil
}

// Kernel is the kernel's release.
func Kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}
