package devcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const controlTimeout = 10 * time.Second

// ErrNotRunning says that no process runs a cluster on the data directory.
var ErrNotRunning = errors.New("the cluster is not running")

// Client talks to a cluster that another process runs.
type Client struct {
	dir    dataDir
	record record
	http   *http.Client
}

// Connect finds the cluster of a data directory. The error is ErrNotRunning when there is none.
func Connect(dir string) (*Client, error) {
	d := dataDir(dir)
	if !isLocked(d.path(lockFile)) {
		return nil, fmt.Errorf("connect to the cluster in %s: %w", dir, ErrNotRunning)
	}
	r, err := d.readRecord()
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster in %s, which process %d seems to be starting: %w", dir, lockOwner(d.path(lockFile)), err)
	}
	dialer := &net.Dialer{}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", r.Control)
	}}
	return &Client{dir: d, record: r, http: &http.Client{Transport: transport}}, nil
}

// KubeconfigPath is the administrator's kubeconfig.
func (c *Client) KubeconfigPath() string { return c.dir.path(kubeconfigFile) }

// Status asks the supervisor.
func (c *Client) Status(ctx context.Context) (Status, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	var status Status
	response, err := c.do(ctx, http.MethodGet, pathStatus, nil)
	if err != nil {
		return status, fmt.Errorf("ask for the status: %w", err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&status); err != nil {
		return status, fmt.Errorf("read the status: %w", err)
	}
	return status, nil
}

// Lease keeps a cluster with an idle timeout alive until it is given back or this process ends.
func (c *Client) Lease(ctx context.Context) (giveBack func(), err error) {
	giveBack, err = c.hold(ctx, pathLease, nil)
	if err != nil {
		return nil, fmt.Errorf("take a lease: %w", err)
	}
	return giveBack, nil
}

// Route is Cluster.Route from another process; the route ends with this process at the latest.
func (c *Client) Route(ctx context.Context, from, to string) (remove func(), err error) {
	return c.hold(ctx, pathRoute, url.Values{"from": {from}, "to": {to}})
}

// hold makes a request whose effect lasts until its response is closed. The context bounds only the request.
func (c *Client) hold(ctx context.Context, path string, values url.Values) (release func(), err error) {
	held, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	response, err := c.do(held, http.MethodPost, path, values) //nolint:bodyclose // the returned function closes it
	if !stop() && err == nil {
		response.Body.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return func() {
		cancel()
		response.Body.Close()
	}, nil
}

func (c *Client) do(ctx context.Context, method, path string, values url.Values) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://cluster"+path, strings.NewReader(values.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("process %d does not answer on %s: %w", c.record.PID, c.record.Control, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		defer response.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
		return nil, errors.New(strings.TrimSpace(string(text)))
	}
	return response, nil
}
