package catalogserver

import (
	"context"
	"net"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"fairlead.dev/fairlead/catalog"
)

// MetadataKey is the gRPC metadata by which a client names the catalog it means.
const MetadataKey = "fairlead-catalog"

// router finds the catalog that a request means.
type router struct {
	source Source
	health *Health
}

// index is the content that a gRPC request is answered from.
func (r router) index(ctx context.Context) (*catalog.Index, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if named := md.Get(MetadataKey); len(named) > 0 {
		if served, ok := r.source.Catalog(named[0]); ok && named[0] != "" {
			return served.Index, nil
		}
		return nil, r.missing("no catalog %q is served here, which the metadata %s asks for", named[0], MetadataKey)
	}
	host := hostOf(md.Get(":authority"))
	for name := host; name != ""; name = parent(name) {
		if served, ok := r.source.Catalog(name); ok {
			return served.Index, nil
		}
	}
	if served, ok := r.source.Catalog(""); ok {
		return served.Index, nil
	}
	return nil, r.missing("the host name %q does not begin with the name of a catalog; dial NAME.NAMESPACE or NAME, or name the catalog in the metadata %s",
		host, MetadataKey)
}

// missing says why a catalog was not found; as long as the first contents are being read, nothing is missing for good.
func (r router) missing(format string, args ...any) error {
	if !r.health.Serving() {
		return status.Error(codes.Unavailable, notReady)
	}
	return status.Errorf(codes.NotFound, format, args...)
}

// notReady is said until all catalogs are there.
const notReady = "the catalogs are still being read; try again in a moment"

// hostOf is the host of an authority, without its port.
func hostOf(authority []string) string {
	if len(authority) == 0 || len(authority[0]) > maxHost {
		return ""
	}
	host, _, err := net.SplitHostPort(authority[0])
	if err != nil {
		host = authority[0]
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// maxHost bounds what is taken for a host name with its port.
const maxHost = 300

// parent is a host name without its last label.
func parent(name string) string {
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		return name[:dot]
	}
	return ""
}
