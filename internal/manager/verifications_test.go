package manager

import (
	"context"
	"errors"
	"testing"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/test/must"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// decided is a verifier whose decision the test sets.
type decided struct {
	v   *image.Verification
	err error
}

func (d *decided) Verify(context.Context, image.VerifyRequest) (*image.Verification, error) {
	return d.v, d.err
}
func (d *decided) Outright(image.VerifyRequest) (bool, error) { return d.err == nil, d.err }
func (d *decided) Configured() bool                           { return true }
func (d *decided) Digest() (string, error)                    { return "sha256:1", nil }

// TestVerificationsAreCounted: each decision by its result, and nothing where no policy decides.
func TestVerificationsAreCounted(t *testing.T) {
	d := &decided{}
	c := countedVerifier{d, metrics.NewVerifications()}
	for _, one := range []struct {
		v      *image.Verification
		err    error
		counts string
	}{
		{v: &image.Verification{Outcome: image.Signed}, counts: metrics.Signed},
		{v: &image.Verification{Outcome: image.Covered}, counts: metrics.Covered},
		{v: &image.Verification{Outcome: image.Accepted}, counts: metrics.Accepted},
		{err: &image.Error{Kind: image.Unverified}, counts: metrics.Unverified},
		{err: &image.Error{Kind: image.Unavailable}, counts: metrics.Undecided},
		{err: errors.New("the policy cannot be asked"), counts: metrics.Undecided},
		{},
	} {
		before, all := 0.0, sum(c)
		if one.counts != "" {
			before = testutil.ToFloat64(c.total.WithLabelValues(one.counts))
		}
		d.v, d.err = one.v, one.err
		v, err := c.Verify(t.Context(), image.VerifyRequest{})
		if v != one.v || !errors.Is(err, one.err) {
			t.Errorf("%+v: the decision became %v, %v", one, v, err)
		}
		if one.counts == "" {
			if sum(c) != all {
				t.Error("no decision was counted")
			}
			continue
		}
		if got := testutil.ToFloat64(c.total.WithLabelValues(one.counts)); got != before+1 {
			t.Errorf("%s is %v, want %v", one.counts, got, before+1)
		}
	}
}

// TestOutrightRefusalsAreCounted: an image that is refused by its name is not verified any more. What is accepted is, and counts then.
func TestOutrightRefusalsAreCounted(t *testing.T) {
	for name, one := range map[string]struct {
		err    error
		counts string
	}{
		"accepted":    {},
		"refused":     {&image.Error{Kind: image.Unverified}, metrics.Unverified},
		"not decided": {errors.New("the policy cannot be asked"), metrics.Undecided},
	} {
		c := countedVerifier{&decided{err: one.err}, metrics.NewVerifications()}
		accepted, err := c.Outright(image.VerifyRequest{})
		if accepted != (one.err == nil) || !errors.Is(err, one.err) {
			t.Errorf("%s: the decision became %t, %v", name, accepted, err)
		}
		want := 0.0
		if one.counts != "" {
			want = 1
			if got := testutil.ToFloat64(c.total.WithLabelValues(one.counts)); got != want {
				t.Errorf("%s: %s is %v", name, one.counts, got)
			}
		}
		if got := sum(c); got != want {
			t.Errorf("%s: %v decisions are counted, want %v", name, got, want)
		}
	}
}

func sum(c countedVerifier) (n float64) {
	for _, result := range []string{metrics.Signed, metrics.Covered, metrics.Accepted, metrics.Unverified, metrics.Undecided} {
		n += testutil.ToFloat64(c.total.WithLabelValues(result))
	}
	return n
}

// TestACountedVerifierKeepsItsPolicy: the store still sees whether there is a policy, and which.
func TestACountedVerifierKeepsItsPolicy(t *testing.T) {
	v := must.Value(counted(&decided{}))(t)
	if p, ok := v.(image.Policies); !ok || !p.Configured() {
		t.Errorf("%T does not report its policy", v)
	}
	if v, err := counted(nil); v != nil || err != nil {
		t.Errorf("without a verifier: %v, %v", v, err)
	}
}
