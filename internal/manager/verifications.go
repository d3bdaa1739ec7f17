package manager

import (
	"context"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/metrics"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

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
