package devcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// event is one line that a detached supervisor prints while it starts; the last one has either Done or Error.
type event struct {
	Component string `json:"component,omitempty"`
	State     State  `json:"state,omitempty"`
	Done      bool   `json:"done,omitempty"`
	Error     string `json:"error,omitempty"`
}

// Detach starts a cluster with a supervisor process of its own, which stays when the caller ends, and returns when the
// cluster is ready. When ctx ends before, the cluster is stopped.
func Detach(ctx context.Context, options Options) (*Client, error) {
	options, err := options.complete()
	if err != nil {
		return nil, fmt.Errorf("start a cluster: %w", err)
	}
	if err := options.checkMachine(); err != nil {
		return nil, fmt.Errorf("start cluster %s: %w", options.Name, err)
	}
	dir := dataDir(options.DataDir)
	if err := dir.create(); err != nil {
		return nil, err
	}
	input, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	supervisor, events, err := startSupervisor(dir, options.Executable, input)
	if err != nil {
		return nil, fmt.Errorf("start the supervisor of a cluster: %w", err)
	}
	defer events.Close()
	ended := make(chan struct{})
	go func() {
		_ = supervisor.Wait() // it says itself, on its output, why it ended
		close(ended)
	}()
	stop := context.AfterFunc(ctx, func() { _ = supervisor.Process.Signal(syscall.SIGTERM) })
	defer stop()
	if err := follow(events, options.Progress); err != nil {
		<-ended // its directory is free when this returns
		if ctx.Err() != nil {
			err = fmt.Errorf("start a cluster: %w", context.Cause(ctx))
		}
		return nil, err
	}
	return Connect(options.DataDir)
}

func startSupervisor(dir dataDir, executable string, options []byte) (*exec.Cmd, io.ReadCloser, error) {
	log, err := os.OpenFile(dir.log(Supervisor), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	input, inputWriter, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer input.Close()
	defer inputWriter.Close()
	events, output, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer output.Close()
	supervisor := &exec.Cmd{
		Path:        executable,
		Args:        []string{Supervisor},
		Dir:         dir.path(),
		Stdin:       input,
		Stdout:      output,
		Stderr:      log,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := supervisor.Start(); err != nil {
		events.Close()
		return nil, nil, err
	}
	if _, err := inputWriter.Write(options); err != nil {
		events.Close()
		return nil, nil, err
	}
	return supervisor, events, nil
}

// follow passes the events on until the cluster is ready or has failed.
func follow(events io.Reader, progress func(string, State)) error {
	decoder := json.NewDecoder(events)
	for {
		var e event
		if err := decoder.Decode(&e); err != nil {
			return fmt.Errorf("the cluster's supervisor ended without saying why: %w", err)
		}
		switch {
		case e.Error != "":
			return errors.New(e.Error)
		case e.Done:
			return nil
		default:
			progress(e.Component, e.State)
		}
	}
}
