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
	server := &http.Server{Handler: mirrorOthers(image.NewRegistry(dir)), ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("the image registry stopped: %v", err)
		}
	}()
	return server, listener.Addr().(*net.TCPAddr), nil
}
