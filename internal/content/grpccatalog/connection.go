package grpccatalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/api/registry"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Connect begins to connect, if there is no connection and none on the way.
func (c *Client) Connect() { c.conn.Connect() }

// Changed waits until the state of the connection is another than the given one; it is false when ctx ends first.
func (c *Client) Changed(ctx context.Context, from connectivity.State) bool {
	return c.conn.WaitForStateChange(ctx, from)
}

// Serving is nil when the server can be reached and does not say that it does not serve. It does not wait until the server can be reached,
// and takes a server for healthy that knows no health checks.
func (c *Client) Serving(ctx context.Context) error {
	answer, err := healthpb.NewHealthClient(c.conn).Check(ctx, &healthpb.HealthCheckRequest{Service: "Registry"})
	switch {
	case status.Code(err) == codes.Unimplemented || status.Code(err) == codes.NotFound:
		return nil
	case err != nil:
		return c.failed("check the health", err)
	case answer.GetStatus() != healthpb.HealthCheckResponse_SERVING:
		return c.failed("check the health", errors.New("it says that it does not serve now ("+answer.GetStatus().String()+")"))
	}
	return nil
}

// Outline is a digest of all packages with their channels and channel heads. It is far cheaper to have than the catalog, and most
// changes of a catalog change it.
func (c *Client) Outline(ctx context.Context) (string, error) {
	sum, n := sha256.New(), 0
	for name, err := range c.Packages(ctx) {
		if err != nil {
			return "", err
		}
		if n++; n > maxPackages {
			return "", c.failed("read the packages", errTooManyPackages)
		}
		err := c.withPackage(ctx, name, func(p *registry.Package, _ func()) error {
			text, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
			if err != nil {
				return c.failed("read the packages", err)
			}
			part := sha256.Sum256(text)
			sum.Write(part[:])
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// What the catalogs of servers that a process reads may take of it together.
const (
	maxReading = 4         // catalogs that are read as a whole
	maxHeavy   = 2         // messages that are decoded and used, of those that cost much
	heavy      = 256 << 10 // from which cost on a message is one of those
	smallKept  = 16 << 20  // what a catalog keeps in memory before it waits until no other one keeps more
)

// Turns bound what reading catalogs takes of a process. Clients share them, those of a manager that leads and of one that waits to alike. A
// turn of messages is only held while there is something to do, and never while a server is waited for: one that is slow keeps none from others.
type Turns struct{ reading, heavy, large turn }

// NewTurns are the turns of a process.
func NewTurns() *Turns {
	return &Turns{make(turn, maxReading), make(turn, maxHeavy), make(turn, 1)}
}

// turn has room for some at once.
type turn chan struct{}

func (t turn) begin(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait until less is being read of other catalogs: %w", context.Cause(ctx))
	}
}

func (t turn) end() { <-t }
