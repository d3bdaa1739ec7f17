package devcluster

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// TestMain runs the tests. The test binary is also what some of them start: argument 0 tells what to be.
func TestMain(m *testing.M) {
	switch os.Args[0] {
	case "patient": // ends when its parent does, or is asked to
		fmt.Println("running with", strings.Join(os.Args[1:], " "), os.Getenv("ONLY"), os.Getenv("HOME"))
		io.Copy(io.Discard, os.Stdin)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("running")
		io.Copy(io.Discard, os.Stdin)
	case "failing":
		for i := range 20 {
			fmt.Println("line", i)
		}
		os.Exit(3)
	case "parent": // starts a patient child, says its process id and stays
		child, err := startProcess(testSpec("patient", os.Args[1]))
		if err != nil {
			panic(err)
		}
		fmt.Println(child.command.Process.Pid)
		select {}
	default:
		Main(m)
	}
}

func testSpec(name, log string, args ...string) processSpec {
	return processSpec{Name: name, Executable: testBinary(), Args: args, Env: []string{"ONLY=this"}, Log: log}
}

func testBinary() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

func startTestProcess(t *testing.T, name string, args ...string) *process {
	t.Helper()
	p := must.Value(startProcess(testSpec(name, filepath.Join(t.TempDir(), "log"), args...)))(t)
	t.Cleanup(func() { p.Stop(0) })
	return p
}

func awaitLog(t *testing.T, path, text string) {
	t.Helper()
	for range 500 {
		if content, _ := os.ReadFile(path); strings.Contains(string(content), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q does not appear in the log", text)
}

func TestProcessStartPassesArgumentsAndOnlyTheGivenEnvironment(t *testing.T) {
	p := startTestProcess(t, "patient", "--a", "b")
	awaitLog(t, p.Log, "running with --a b this \n")
}

func TestProcessStop(t *testing.T) {
	tests := map[string]struct {
		name  string
		grace time.Duration
		how   string
	}{
		"one that listens is asked":       {"patient", time.Minute, "signal: terminated"},
		"one that does not is not spared": {"stubborn", 50 * time.Millisecond, "signal: killed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := startTestProcess(t, test.name)
			awaitLog(t, p.Log, "running")
			p.Stop(test.grace)
			if err := p.Ended(); !strings.Contains(err.Error(), test.name+" ended ("+test.how+")") {
				t.Errorf("it ended with: %v", err)
			}
			p.Stop(test.grace) // once more does no harm
		})
	}
}

func TestProcessEndedHasTheLastLines(t *testing.T) {
	p := startTestProcess(t, "failing")
	text := p.Ended().Error()
	for _, want := range []string{"failing ended (exit status 3)", p.Log, "    line 8\n", "    line 19"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in: %s", want, text)
		}
	}
	if strings.Contains(text, "line 7\n") {
		t.Errorf("too many lines in: %s", text)
	}
}

func TestProcessChildEndsWithItsKilledParent(t *testing.T) {
	parent := &exec.Cmd{Path: testBinary(), Args: []string{"parent", filepath.Join(t.TempDir(), "log")}}
	output := must.Value(parent.StdoutPipe())(t)
	must.NoError(t, parent.Start())
	line := make([]byte, 20)
	n := must.Value(output.Read(line))(t)
	child := must.Value(strconv.Atoi(strings.TrimSpace(string(line[:n]))))(t)
	if _, err := processStartTime(child); err != nil {
		t.Fatalf("the child does not run: %v", err)
	}
	parent.Process.Kill()
	parent.Wait()
	for range 500 {
		if syscall.Kill(child, 0) == syscall.ESRCH || isZombie(child) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("child %d survived its parent", child)
}

// isZombie is true for a process that has ended but was not yet waited for by whoever inherited it.
func isZombie(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && strings.Contains(string(status), "State:\tZ")
}

func TestProcessFormerLogIsKept(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	for range 2 {
		p := must.Value(startProcess(testSpec("failing", log)))(t)
		<-p.done
	}
	for _, path := range []string{log, log + ".old"} {
		info := must.Value(os.Stat(path))(t)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
	}
}

func TestProcessStartOfWhatIsNotThere(t *testing.T) {
	s := testSpec("nothing", filepath.Join(t.TempDir(), "log"))
	s.Executable = filepath.Join(t.TempDir(), "missing")
	if _, err := startProcess(s); err == nil || !strings.Contains(err.Error(), "start nothing: ") {
		t.Errorf("got %v", err)
	}
}

func TestProcessInspect(t *testing.T) {
	own, err := processStartTime(os.Getpid())
	if err != nil || own == "" {
		t.Fatalf("own start time: %q, %v", own, err)
	}
	time.Sleep(1100 * time.Millisecond) // startTestProcess times are told in seconds on some systems
	child := startTestProcess(t, "patient")
	if other, err := processStartTime(child.command.Process.Pid); err != nil || other == own {
		t.Errorf("a later process started at %q, %v, this one at %q", other, err, own)
	}
	if memory, err := memoryOf(os.Getpid()); err != nil || memory < 1<<20 || memory > 1<<30 {
		t.Errorf("own memory: %d, %v", memory, err)
	}
	const none = 1 << 30
	if _, err := processStartTime(none); err == nil {
		t.Error("a process that is not there has a start time")
	}
	if _, err := memoryOf(none); err == nil {
		t.Error("a process that is not there has memory")
	}
}
