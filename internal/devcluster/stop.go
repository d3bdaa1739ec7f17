package devcluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A component gets this long to end by itself.
const stopGrace = 5 * time.Second

// Stop ends the components, clients before servers, and then the rest. It returns when all is gone, and may be called
// more than once.
func (c *Cluster) Stop() { c.stop(nil) }

func (c *Cluster) stop(cause error) {
	c.stopOnce.Do(func() {
		c.cause = cause
		c.mu.Lock()
		c.stopping = true
		running := slices.Clone(c.processes)
		c.mu.Unlock()

		// End the API server only after its clients, and etcd after the API server: each would otherwise spend its grace period on waiting
		// for connections to end.
		for _, group := range [][]string{{ControllerManager, Scheduler, Kwok, Kubelet, KubeProxy}, {APIServer, Containerd}, {Etcd}} {
			var all sync.WaitGroup
			for _, p := range running {
				if slices.Contains(group, p.Name) {
					all.Go(func() {
						p.Stop(stopGrace)
						c.opts.Progress(p.Name, Stopped)
					})
				}
			}
			all.Wait()
		}
		if c.node != nil {
			if err := c.node.Detach(); err != nil {
				c.cause = errors.Join(c.cause, fmt.Errorf("give the machine back: %w", err))
			}
		}
		for _, s := range slices.Backward(c.servers) {
			_ = s.Close() // what is not closed ends with the process
		}
		// Give back what start took before it started anything.
		if c.reserved != nil {
			c.reserved.release()
		}
		if c.sockets != "" && c.sockets != c.dir.path() {
			os.RemoveAll(c.sockets)
		}
		// After a failure the logs are of interest; the next start on the directory clears it.
		c.mu.Lock()
		started := c.startup > 0
		c.mu.Unlock()
		if c.opts.Throwaway && c.cause == nil && started {
			os.RemoveAll(c.dir.path())
		}
		c.lock.Close()
		close(c.done)
	})
	<-c.done
}

const (
	// politeStop is the time for an orderly stop, which takes at most three grace periods and the end of a real node, before signals are used.
	politeStop = 3*stopGrace + 15*time.Second
	signalStop = 10 * time.Second
)

// Stop makes the supervisor stop its cluster, and returns when the data directory is free. A supervisor that does not
// answer is signalled, provided that the recorded process id still belongs to the recorded process.
func (c *Client) Stop(ctx context.Context) error {
	asked, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	response, err := c.do(asked, http.MethodPost, pathStop, nil)
	if err == nil {
		response.Body.Close()
		if c.awaitFree(ctx, politeStop) {
			return nil
		}
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !isLocked(c.dir.path(lockFile)) {
			return nil
		}
		if err := c.signal(signal); err != nil {
			return err
		}
		if c.awaitFree(ctx, signalStop) {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("stop the cluster in %s: process %d is still there", c.dir, c.record.PID), context.Cause(ctx))
}

func (c *Client) signal(signal syscall.Signal) error {
	start, err := processStartTime(c.record.PID)
	if err != nil || start != c.record.ProcessStart {
		return fmt.Errorf("stop the cluster in %s: process %d is not its supervisor any more, so it is left alone", c.dir, c.record.PID)
	}
	if err := syscall.Kill(c.record.PID, signal); err != nil {
		return fmt.Errorf("stop the cluster in %s: signal process %d: %w", c.dir, c.record.PID, err)
	}
	return nil
}

// awaitFree waits until no one holds the lock of the data directory.
func (c *Client) awaitFree(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for isLocked(c.dir.path(lockFile)) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pollInterval):
		}
	}
	return true
}
