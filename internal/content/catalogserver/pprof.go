package catalogserver

import (
	"bytes"
	"net/http"
	runtimepprof "runtime/pprof"
	"sync"
)

// startupProfile is a CPU profile of the time until the server is ready. A nil one is none.
type startupProfile struct {
	mu      sync.Mutex
	content bytes.Buffer
	running bool
	err     error
}

// stop ends the profile.
func (p *startupProfile) stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running {
		runtimepprof.StopCPUProfile()
		p.running = false
	}
}

// ServeHTTP answers with the profile once it is complete.
func (p *startupProfile) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if p == nil {
		http.Error(w, "the start was not profiled: ask for it when the server is started", http.StatusNotFound)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.err != nil:
		http.Error(w, "the start was not profiled: "+p.err.Error(), http.StatusInternalServerError)
	case p.running:
		http.Error(w, notReady, http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(p.content.Bytes()) // who does not read it does not get it
	}
}
