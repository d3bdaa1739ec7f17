package devcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
)

// LogNames are the logs of a cluster: those of its components, and of its supervisor when that is a process of its own.
func LogNames() []string {
	return []string{Etcd, APIServer, ControllerManager, Scheduler, Kwok, Containerd, Kubelet, KubeProxy, Supervisor}
}

// LogOptions choose what WriteLogs writes.
type LogOptions struct {
	// Component is one of LogNames; empty for all, whose lines are then prefixed with their names.
	Component string
	// Tail is the number of last lines to begin with, or -1 for all.
	Tail int
	// Follow continues until the context ends.
	Follow bool
}

// WriteLogs writes the logs in a data directory, whether its cluster runs or not.
func WriteLogs(ctx context.Context, w io.Writer, dir string, options LogOptions) error {
	if options.Component != "" {
		path := dataDir(dir).log(options.Component)
		if err := writeLog(ctx, w, path, options.Tail, options.Follow); err != nil {
			return fmt.Errorf("read the log of %s: %w", options.Component, err)
		}
		return nil
	}
	shared := &lockedWriter{w: w}
	var all sync.WaitGroup
	names := LogNames()
	errs := make([]error, len(names))
	found := make([]bool, len(names))
	for i, name := range names {
		write := func() {
			out := &prefixWriter{w: shared, prefix: fmt.Sprintf("%-23s | ", name)}
			err := writeLog(ctx, out, dataDir(dir).log(name), options.Tail, options.Follow)
			if found[i] = !errors.Is(err, fs.ErrNotExist); found[i] && err != nil {
				errs[i] = fmt.Errorf("read the log of %s: %w", name, err)
			}
		}
		if options.Follow {
			all.Go(write)
		} else {
			write()
		}
	}
	all.Wait()
	for _, one := range found {
		if one {
			return errors.Join(errs...)
		}
	}
	return fmt.Errorf("no logs in %s: no cluster was ever started there", dir)
}

// lockedWriter makes each write whole.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// prefixWriter puts a prefix before each line, and passes on whole lines only.
type prefixWriter struct {
	w       io.Writer
	prefix  string
	partial string
}

func (p *prefixWriter) Write(content []byte) (int, error) {
	text := p.partial + string(content)
	end := strings.LastIndexByte(text, '\n') + 1
	p.partial = text[end:]
	var out strings.Builder
	for line := range strings.Lines(text[:end]) {
		out.WriteString(p.prefix)
		out.WriteString(line)
	}
	if _, err := io.WriteString(p.w, out.String()); err != nil {
		return 0, err
	}
	return len(content), nil
}
