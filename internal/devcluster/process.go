package devcluster

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// processSpec says what to run.
type processSpec struct {
	// Name becomes argument 0, which tells the program what to be.
	Name       string
	Executable string
	Args       []string
	Env        []string
	// Log is the file for standard output and error. What it held before is kept beside it, with the suffix .old.
	Log string
}

// process is a running or ended child.
type process struct {
	Name string
	Log  string

	command *exec.Cmd
	life    *os.File
	done    chan struct{} // closed when the child has ended
	err     error
}

// startProcess starts a child in a process group of its own, so that an interrupt typed at the terminal reaches only the
// supervisor, which then stops its children in order.
func startProcess(spec processSpec) (*process, error) {
	if err := os.Rename(spec.Log, spec.Log+".old"); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	defer log.Close()
	stdin, life, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	defer stdin.Close()
	p := &process{Name: spec.Name, Log: spec.Log, life: life, done: make(chan struct{})}
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
	go func() {
		p.err = p.command.Wait()
		p.life.Close()
		close(p.done)
	}()
	return p, nil
}

// Ended is the error of a child that should still be running, with its last log lines. Call it after the child has ended.
func (p *process) Ended() error {
	<-p.done
	how := p.command.ProcessState.String()
	return fmt.Errorf("%s ended (%s)\n%s", p.Name, how, excerpt(p.Log))
}

// Stop asks the child to end, and ends it when it has not done so within the grace period.
func (p *process) Stop(grace time.Duration) {
	_ = p.command.Process.Signal(syscall.SIGTERM) // fails when it has ended already, which is what is wanted
	select {
	case <-p.done:
	case <-time.After(grace):
		_ = p.command.Process.Kill()
		<-p.done
	}
}
