package devcluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/signal"
	"sync"
	"syscall"
)

// Supervise is the main function of a detached supervisor: it reads Options from its input, prints events until the cluster
// is ready, and returns the exit code when the cluster has stopped.
func Supervise(input io.Reader, output, logs io.Writer) int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	var mu sync.Mutex
	emit := func(e event) {
		mu.Lock()
		defer mu.Unlock()
		// Who asked for the cluster may be gone; the cluster continues.
		_ = json.NewEncoder(output).Encode(e)
	}
	var options Options
	if err := json.NewDecoder(input).Decode(&options); err != nil {
		emit(event{Error: fmt.Sprintf("read the options of the cluster: %v", err)})
		return 2
	}
	options.Executable = "" // this program is the one that was meant
	options.Progress = func(component string, state State) { emit(event{Component: component, State: state}) }
	cluster, err := Start(ctx, options)
	if err != nil {
		emit(event{Error: err.Error()})
		return 1
	}
	emit(event{Done: true})
	select {
	case <-ctx.Done():
		cluster.Stop()
	case <-cluster.Done():
	}
	if err := cluster.Err(); err != nil {
		fmt.Fprintf(logs, "%s stopped: %v\n", cluster, err)
		return 1
	}
	return 0
}
