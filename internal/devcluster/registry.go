package devcluster

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"

	"fairlead.dev/fairlead/internal/content/image"
)

// serveRegistry serves an OCI registry on loopback, without TLS or accounts, as image tools expect of loopback. It keeps what is pushed in dir,
// or in memory when that is empty. It prefers the port of an earlier run, because image references have it in them.
func serveRegistry(dir string, port int) (*http.Server, *net.TCPAddr, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err != nil && port != 0 {
		listener, err = net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("listen for the image registry: %w", err)
	}
	return answerRegistry(listener, mirrorOthers(image.NewRegistry(dir))), listener.Addr().(*net.TCPAddr), nil
}

func answerRegistry(listener net.Listener, handler http.Handler) *http.Server {
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("the image registry stopped: %v", err)
		}
	}()
	return server
}

// serveRegistryToPods serves the registry at the address of a real node as well: a manager in a pod pulls catalogs and bundles from there. Pods may only read.
func serveRegistryToPods(registry *http.Server, address string) (io.Closer, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for pods that pull from the image registry: %w", err)
	}
	return answerRegistry(listener, readOnly(registry.Handler)), nil
}

// readOnly refuses whatever would change a registry.
func readOnly(registry http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "pods may pull from the registry of the cluster; push to it from the machine, at its address on loopback", http.StatusMethodNotAllowed)
			return
		}
		registry.ServeHTTP(w, r)
	})
}
