package catalogserver

import (
	"bytes"
	"net/http"
	"net/http/pprof"
	runtimepprof "runtime/pprof"
	"sync"
)

// newPprof is a server of profiles of this process.
func newPprof(startup *startupProfile) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.Handle("/debug/pprof/startup/cpu", startup)
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaderBytes}
}

// startupProfile is a CPU profile of the time until the server is ready. A nil one is none.
type startupProfile struct {
	mu      sync.Mutex
	content bytes.Buffer
	running bool
	err     error
}

// newStartupProfile begins to take a profile.
func newStartupProfile() *startupProfile {
	p := &startupProfile{running: true}
	if p.err = runtimepprof.StartCPUProfile(&p.content); p.err != nil {
		p.running = false
	}
	return p
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
