package devcluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
)

// Paths of the control socket. A lease and a route last as long as the response is being read: the kernel ends the
// connection of a client that dies, so neither outlives its owner.
const (
	pathStatus = "/status"
	pathStop   = "/stop"
	pathLease  = "/lease"
	pathRoute  = "/route"
)

// listenUnix replaces the socket file of an earlier run; the caller holds the lock of the data directory.
func listenUnix(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove an old socket: %w", err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on a socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("protect a socket: %w", err)
	}
	return listener, nil
}

// controlHandler serves the requests of other processes about a cluster.
func controlHandler(c *Cluster) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathStatus, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(c.Status()); err != nil {
			log.Printf("answer a status request: %v", err)
		}
	})
	mux.HandleFunc("POST "+pathStop, func(w http.ResponseWriter, _ *http.Request) {
		c.requestOnce.Do(func() { close(c.stopRequest) })
		w.WriteHeader(http.StatusAccepted)
	})
	mux.HandleFunc("POST "+pathLease, func(w http.ResponseWriter, r *http.Request) {
		if !c.leases.take() {
			http.Error(w, "the cluster is stopping", http.StatusServiceUnavailable)
			return
		}
		defer c.leases.giveBack()
		hold(w, r, c.done)
	})
	mux.HandleFunc("POST "+pathRoute, func(w http.ResponseWriter, r *http.Request) {
		remove, err := c.Route(r.FormValue("from"), r.FormValue("to"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		defer remove()
		hold(w, r, c.done)
	})
	return mux
}

// hold keeps the response open until the client goes or the cluster stops.
func hold(w http.ResponseWriter, r *http.Request, stopped <-chan struct{}) {
	w.WriteHeader(http.StatusOK)
	if err := http.NewResponseController(w).Flush(); err != nil {
		return
	}
	select {
	case <-r.Context().Done():
	case <-stopped:
	}
}
