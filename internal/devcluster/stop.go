package devcluster

import (
	"os"
	"slices"
	"sync"
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
		for _, group := range [][]string{{ControllerManager, Scheduler, Kwok}, {APIServer}, {Etcd}} {
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
