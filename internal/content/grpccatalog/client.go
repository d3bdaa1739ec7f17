package grpccatalog

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/url"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"fairlead.dev/fairlead/api/registry"
)

// How long a server may say nothing when it is asked for something small, and when it is asked for everything.
const (
	silence     = 8 * time.Second
	longSilence = time.Minute
)

// errSilent is why a call was ended.
var errSilent = errors.New("it says nothing; find out whether it is overloaded, or the network loses what it says")

// A lost connection is noticed within a minute, and tried again after pauses that grow to half a minute.
var (
	keepAlive = keepalive.ClientParameters{Time: 45 * time.Second, Timeout: 10 * time.Second}
	reconnect = grpc.ConnectParams{MinConnectTimeout: 10 * time.Second,
		Backoff: backoff.Config{BaseDelay: time.Second, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 30 * time.Second}}
)

// Client is a connection to a server. It is safe for concurrent use.
type Client struct {
	address  string
	conn     *grpc.ClientConn
	registry registry.RegistryClient
	turns    *Turns
	memory   int64
}

// Options say how a server is reached. The zero value works.
type Options struct {
	// Authorities are certificates in PEM, of those who vouch for the server. Without any, every server that answers is believed.
	Authorities []byte
	// TLS returns the versions, cipher suites and key exchanges of one connection. Nil, or one that returns nil, leaves them to Go.
	TLS func() *tls.Config
	// Dial makes the connections; nil is for TCP, and for the proxy that the environment names.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Turns are shared by the clients of a process; nil for those of this client alone.
	Turns *Turns
	// Memory is how much memory one catalog may take, as catalog.Limits measures; 0 for 256 MiB.
	Memory int64
}

// defaultMemory is how much memory a catalog may take where nothing else is said.
const defaultMemory = 256 << 20

// Dial returns a client of the server at an address, HOST:PORT. It connects when it is first used, and again when the connection is lost.
func Dial(address string, o Options) (*Client, error) {
	_, port, err := net.SplitHostPort(address)
	if err == nil { // other forms would reach other things, such as sockets of this machine
		_, err = strconv.ParseUint(port, 10, 16)
	}
	e := encryption{dial: dialTCP, profile: o.TLS}
	if err == nil && len(o.Authorities) > 0 {
		e.authorities = x509.NewCertPool()
		if !e.authorities.AppendCertsFromPEM(o.Authorities) {
			err = errors.New("the CA bundle for its certificate cannot be read; give certificates in PEM")
		}
	}
	scheme := "dns:///"
	switch {
	case err != nil:
	case o.Dial != nil:
		scheme, e.dial = "passthrough:///", o.Dial // which also finds out what the name of the server stands for
	default:
		var proxy *url.URL
		if proxy, err = proxyFor(address); proxy != nil {
			scheme, e.dial = "passthrough:///", through(proxy)
		}
	}
	var conn *grpc.ClientConn
	if err == nil {
		conn, err = grpc.NewClient(scheme+address,
			grpc.WithTransportCredentials(insecure.NewCredentials()), // the connections that e opens have TLS
			grpc.WithContextDialer(func(ctx context.Context, resolved string) (net.Conn, error) { return e.open(ctx, address, resolved) }),
			grpc.WithIdleTimeout(0), grpc.WithNoProxy(), grpc.WithConnectParams(reconnect), grpc.WithKeepaliveParams(keepAlive),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(smallBound.wire)))
	}
	if err != nil {
		return nil, fmt.Errorf("use the catalog server at %s: %w; an address is written HOST:PORT", address, err)
	}
	turns := o.Turns
	if turns == nil {
		turns = NewTurns()
	}
	return &Client{address, conn, registry.NewRegistryClient(conn), turns, cmp.Or(o.Memory, defaultMemory)}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// State is the state of the connection.
func (c *Client) State() connectivity.State { return c.conn.GetState() }

// Packages are the names of all packages, in the order of the server.
func (c *Client) Packages(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		open := func(ctx context.Context, d *decoder) (grpc.ServerStreamingClient[registry.PackageName], error) {
			return c.registry.ListPackages(ctx, &registry.ListPackageRequest{}, d.options()...)
		}
		for name, err := range receive(ctx, silence, c.decoder(ctx, nameBound), open) {
			if err != nil {
				err = c.failed("list the packages", err)
			}
			if !yield(name.GetName(), err) {
				return
			}
		}
	}
}

// withPackage asks for a package and uses it. Few that cost much are in use at once; use may say when it needs it no more.
func (c *Client) withPackage(ctx context.Context, name string, use func(p *registry.Package, release func()) error) error {
	asking, cancel := patiently(ctx)
	defer cancel()
	d := c.decoder(ctx, packageBound)
	defer d.release()
	p, err := c.registry.GetPackage(asking, &registry.GetPackageRequest{Name: name}, d.options()...)
	if err != nil && errors.Is(context.Cause(asking), errSilent) {
		err = errSilent
	}
	if err != nil {
		return c.failed(fmt.Sprintf("get package %q", name), err)
	}
	return use(p, d.release)
}

// patiently returns a context whose cause is errSilent once the time of a small call is over. It is no deadline, since a server is told of a
// deadline: one that ends the call in the same instant would look like one that answers.
func patiently(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	patience := time.AfterFunc(silence, func() { cancel(errSilent) })
	return ctx, func() {
		patience.Stop()
		cancel(nil)
	}
}

// Bundle asks for an entry of a channel, with its manifests.
func (c *Client) Bundle(ctx context.Context, pkg, channel, name string) (*registry.Bundle, error) {
	d := c.decoder(ctx, bundleBound)
	defer d.release()
	b, err := c.registry.GetBundle(ctx, &registry.GetBundleRequest{PkgName: pkg, ChannelName: channel, CsvName: name}, d.options()...)
	if err != nil {
		return nil, c.failed(fmt.Sprintf("get bundle %q of channel %q of package %q", name, channel, pkg), err)
	}
	return b, nil
}

// Bundles are all entries of all channels, in the order of the server.
func (c *Client) Bundles(ctx context.Context) iter.Seq2[*registry.Bundle, error] {
	return c.bundles(ctx, c.decoder(ctx, bundleBound))
}

func (c *Client) bundles(ctx context.Context, d *decoder) iter.Seq2[*registry.Bundle, error] {
	return func(yield func(*registry.Bundle, error) bool) {
		open := func(ctx context.Context, d *decoder) (grpc.ServerStreamingClient[registry.Bundle], error) {
			return c.registry.ListBundles(ctx, &registry.ListBundlesRequest{}, d.options()...)
		}
		for b, err := range receive(ctx, longSilence, d, open) {
			if err != nil {
				err = c.failed("list the bundles", err)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// failed says what was attempted with which server.
func (c *Client) failed(what string, err error) error {
	return fmt.Errorf("%s of the catalog server at %s: %w", what, c.address, err)
}

// receive reads a stream to its end or its error, and ends it when no more of it is wanted, or the server is silent for too long. A message is in
// use until the next one is asked for.
func receive[T any](ctx context.Context, silence time.Duration, d *decoder, open func(context.Context, *decoder) (grpc.ServerStreamingClient[T], error)) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		defer d.release()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		patience := time.AfterFunc(silence, func() { cancel(errSilent) })
		defer patience.Stop()
		stream, err := open(ctx, d)
		for err == nil {
			var message *T
			patience.Reset(silence)
			message, err = stream.Recv()
			patience.Stop() // what is done with the message is not the server's time
			if err == nil && !yield(message, nil) {
				return
			}
			d.release()
		}
		if errors.Is(context.Cause(ctx), errSilent) {
			err = errSilent
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, err)
		}
	}
}
