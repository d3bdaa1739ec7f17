// Package process runs the children of an embedded cluster's supervisor. A child's standard input is a pipe that the
// supervisor holds open and never writes to: when the supervisor dies, by whatever signal, the kernel closes it, the child
// reads the end of it and exits. Its output goes to a log file.
//
// It knows nothing of Kubernetes and never signals a process it did not start. Start reading at Start.
package process

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Spec says what to run.
type Spec struct {
	// Name becomes argument 0, which tells the program what to be.
	Name       string
	Executable string
	Args       []string
	Env        []string
	// Log is the file for standard output and error. What it held before is kept beside it, with the suffix .old.
	Log string
}

// Process is a running or ended child.
type Process struct {
	Name string
	Log  string

	command *exec.Cmd
	life    *os.File
	done    chan struct{}
	err     error
}

// Start starts a child in a process group of its own, so that an interrupt typed at the terminal reaches only the
// supervisor, which then stops its children in order.
func Start(spec Spec) (*Process, error) {
	log, err := createLog(spec.Log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	defer log.Close()
	stdin, life, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	defer stdin.Close()
	p := &Process{Name: spec.Name, Log: spec.Log, life: life, done: make(chan struct{})}
	p.command = &exec.Cmd{
		Path:        spec.Executable,
		Args:        append([]string{spec.Name}, spec.Args...),
		Env:         spec.Env,
		Stdin:       stdin,
		Stdout:      log,
		Stderr:      log,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if err := p.command.Start(); err != nil {
		life.Close()
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	go p.wait()
	return p, nil
}

func createLog(path string) (*os.File, error) {
	if err := os.Rename(path, path+".old"); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_TRUNC, 0o600)
}

func (p *Process) wait() {
	p.err = p.command.Wait()
	p.life.Close()
	close(p.done)
}

// PID is the process id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended is the error of a child that should still be running, with its last log lines. Call it after Done is closed.
func (p *Process) Ended() error {
	<-p.done
	how := p.command.ProcessState.String()
	return fmt.Errorf("%s ended (%s)\n%s", p.Name, how, Excerpt(p.Log))
}

// Stop asks the child to end, and ends it when it has not done so within the grace period.
func (p *Process) Stop(grace time.Duration) {
	_ = p.command.Process.Signal(syscall.SIGTERM) // fails when it has ended already, which is what is wanted
	select {
	case <-p.done:
	case <-time.After(grace):
		_ = p.command.Process.Kill()
		<-p.done
	}
}
