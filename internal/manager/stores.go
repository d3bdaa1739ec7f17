package manager

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/metrics"
)

// indexesDir is the directory of the catalogs' indexes within that of the content store.
const indexesDir = "indexes"

// recordsDir is the directory of notes about which content catalogs served last.
const recordsDir = "catalogs"

// stores are what the controllers share: images and manifests, the indexes of catalogs, and which of them are being served.
type stores struct {
	contents *image.Store
	// policies reports changes of the signature policy.
	policies *image.PolicyWatch
	indexes  *catalogstore.Cache
	catalogs *catalogstore.Set
	// clusterCatalogs are the contents of ClusterCatalogs, in a set of their own: what decides on Subscriptions is not to be woken by them.
	clusterCatalogs *catalogstore.Set
	// standby are the contents of CatalogSources that are read while another manager leads.
	standby *catalogstore.Set
	// turns are those of all who read catalogs from registry servers.
	turns   *grpccatalog.Turns
	serving *serving       // nil when catalogs are not served over gRPC
	http    *catalogHTTP   // nil when those of ClusterCatalogs are not served over HTTP
	console *consoleServer // nil when there is none
}

func openStores(o Options) (stores, error) {
	var err error
	if o.Images.Verifier, err = counted(o.Images.Verifier); err != nil {
		return stores{}, fmt.Errorf("count the decisions of the signature policy: %w", err)
	}
	contents, err := image.Open(o.StoreDir, o.Images)
	if err != nil {
		return stores{}, fmt.Errorf("open the content store in %s: %w", o.StoreDir, err)
	}
	dir := filepath.Join(o.StoreDir, indexesDir)
	indexes, err := catalogstore.OpenCache(dir)
	if err != nil {
		return stores{}, fmt.Errorf("open the indexes of catalogs in %s: %w", dir, err)
	}
	bytes := cmp.Or(o.CatalogLimits.Bytes, DefaultCatalogBytes)
	indexes.Limits = catalog.Limits{TotalBytes: bytes, FileBytes: bytes, MemoryBytes: cmp.Or(o.CatalogLimits.Memory, DefaultCatalogMemory), DocumentBytes: catalogDocumentBytes}
	indexes.Flags = map[string]string{"TotalBytes": "--" + CatalogBytesFlag + " of the manager", "MemoryBytes": "--" + CatalogMemoryFlag + " of the manager"}
	policies := &image.PolicyWatch{Store: contents, Clock: o.Clock}
	return stores{contents: contents, policies: policies, indexes: indexes, catalogs: catalogstore.NewSet(), clusterCatalogs: catalogstore.NewSet(), standby: catalogstore.NewSet(), turns: grpccatalog.NewTurns()}, nil
}

// digests are those of all contents that are being served, or are about to be.
func (s stores) digests() []string {
	return slices.Concat(s.catalogs.Digests(), s.standby.Digests(), s.clusterCatalogs.Digests())
}

// verifier is what a store verifies images with in a manager: its policy may change.
type verifier interface {
	image.Verifier
	image.Policies
	image.OutrightVerifier
}

// countedVerifier counts the decisions of a verifier.
type countedVerifier struct {
	verifier
	total *prometheus.CounterVec
}

// counted has the decisions of the verifier counted. One whose policy never changes is for tests, and stays as it is.
func counted(v image.Verifier) (image.Verifier, error) {
	changing, ok := v.(verifier)
	if !ok {
		return v, nil
	}
	total, err := metrics.Register(ctrlmetrics.Registry, metrics.NewVerifications())
	if err != nil {
		return nil, err
	}
	return countedVerifier{changing, total}, nil
}

// Verify implements image.Verifier.
func (c countedVerifier) Verify(ctx context.Context, r image.VerifyRequest) (*image.Verification, error) {
	v, err := c.verifier.Verify(ctx, r)
	if result := resultOf(v, err); result != "" {
		c.total.WithLabelValues(result).Inc()
	}
	return v, err
}

// Outright implements image.OutrightVerifier. What it accepts is verified afterwards, and counts then.
func (c countedVerifier) Outright(r image.VerifyRequest) (bool, error) {
	accepted, err := c.verifier.Outright(r)
	if err != nil {
		c.total.WithLabelValues(resultOf(nil, err)).Inc()
	}
	return accepted, err
}

// resultOf is the label of a decision; empty when no policy decided.
func resultOf(v *image.Verification, err error) string {
	switch {
	case image.KindOf(err) == image.Unverified:
		return metrics.Unverified
	case err != nil:
		return metrics.Undecided
	case v == nil:
		return ""
	}
	return string(v.Outcome)
}
