package bundleio

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	clocktesting "k8s.io/utils/clock/testing"
)

// judge is a signature policy that the test sets.
type judge struct {
	mu      sync.Mutex
	version string
	decide  func(r image.VerifyRequest) (*image.Verification, error)
	asked   []image.VerifyRequest
}

func (j *judge) Configured() bool { return true }

func (j *judge) Digest() (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.version, nil
}

func (j *judge) Verify(_ context.Context, r image.VerifyRequest) (*image.Verification, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = append(j.asked, r)
	return j.decide(r)
}

// becomes exchanges the policy.
func (j *judge) becomes(version string, decide func(r image.VerifyRequest) (*image.Verification, error)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.version, j.decide = version, decide
}

// last is what was asked at last, and how often something was.
func (j *judge) last() (image.VerifyRequest, int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.asked[len(j.asked)-1], len(j.asked)
}

func signs(r image.VerifyRequest) (*image.Verification, error) {
	return &image.Verification{Outcome: image.Signed, Ref: r.Ref, Digest: r.Digest}, nil
}

func refuses(image.VerifyRequest) (*image.Verification, error) {
	return nil, &image.Error{Kind: image.Unverified, Reason: "rule 1 rejects it"}
}

func newJudged(t *testing.T) (*Unpacker, *clocktesting.FakeClock, *judge) {
	t.Helper()
	j := &judge{version: "loose", decide: signs}
	store := must.Value(image.Open(t.TempDir(), image.Config{Verifier: j}))(t)
	clock := clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))
	u := NewUnpacker(store, daytime{clock}, func() {})
	u.jitter = func() float64 { return 0 }
	return u, clock, j
}

// TestJudge: whether a bundle may be used is asked in the background, without anything of it being read, and again when the policy changes or the
// answer has expired.
func TestJudge(t *testing.T) {
	r := newRegistry(t)
	u, clock, j := newJudged(t)
	bundle, err := u.Fetch(t.Context(), Request{Name: "greeter-operator.v1.0.0", Image: r.ref})
	if err != nil || bundle.Verification == nil {
		t.Fatalf("%+v, %v", bundle, err)
	}
	by := &image.Origin{Ref: "quay.io/c:v1", Digest: "sha256:c"}
	for name, request := range map[string]Request{
		"by digest":    {Name: "greeter-operator.v1.0.0", Image: bundle.Pinned, NamedBy: by},
		"by tag":       {Name: "greeter-operator.v1.0.0", Image: bundle.Pinned, Requested: r.ref, NamedBy: by},
		"in a catalog": {Name: "inside.v1.0.0", NamedBy: &image.Origin{Ref: "quay.io/c:v1", Digest: "sha256:" + strings.Repeat("c", 64)}},
	} {
		t.Run(name, func(t *testing.T) {
			request.Judge = true
			j.becomes("loose "+name, signs)
			before := r.requests.Load()
			s, err := u.Fetch(t.Context(), request)
			if err != nil || !s.Done() || s.Bundle != nil || s.Verification == nil || r.requests.Load() != before {
				t.Fatalf("%+v, %v, %d requests", s, err, r.requests.Load()-before)
			}
			asked, _ := j.last()
			covers := asked.NamedBy != nil
			must.Equal(t, "the policy is asked about", (asked.Tag == "v1"), name != "by digest")
			must.Equal(t, "the policy is asked about", covers, name == "by digest")
			must.Equal(t, "it", (s.Verification.Outcome == image.Covered), name == "in a catalog")
			_, n := j.last()
			u.Get(t.Context(), request, time.Second)
			if _, again := j.last(); again != n {
				t.Error("the same is asked again under the same policy")
			}
			if read := request; request.Image != "" {
				read.Judge = false
				if s := u.Get(t.Context(), read, 10*time.Second); s.Bundle == nil {
					t.Errorf("the bundle is not handed out to who wants to read it: %+v", s)
				}
			}
			j.becomes("tight "+name, refuses)
			s = u.Get(t.Context(), request, 10*time.Second)
			if image.KindOf(s.Err) != image.Unverified || s.Done() || !s.RetryAt.Equal(clock.Now().Add(refusedPause)) {
				t.Errorf("under another policy: %+v", s)
			}
			j.becomes("expires "+name, func(r image.VerifyRequest) (*image.Verification, error) {
				v, err := signs(r)
				v.Expires = clock.Now().Add(time.Hour)
				return v, err
			})
			if s := u.Get(t.Context(), request, 10*time.Second); !s.Done() {
				t.Fatalf("%+v", s)
			}
			clock.Step(time.Hour)
			j.becomes("expires "+name, refuses)
			if s := u.Get(t.Context(), request, 10*time.Second); s.Err == nil {
				t.Error("an answer that has expired is given again")
			}
		})
	}
}

// TestUnsignedBundleIsNotRead: what the policy refuses is not handed out, and what cannot be decided is tried again soon.
func TestUnsignedBundleIsNotRead(t *testing.T) {
	r := newRegistry(t)
	u, clock, j := newJudged(t)
	for name, test := range map[string]struct {
		decide func(image.VerifyRequest) (*image.Verification, error)
		pause  time.Duration
	}{
		"refused":   {refuses, refusedPause},
		"undecided": {func(image.VerifyRequest) (*image.Verification, error) { return nil, errors.New("no answer") }, firstPause},
	} {
		j.becomes(name, test.decide)
		s := u.Get(t.Context(), Request{Name: "greeter-operator.v1.0.0", Image: r.ref}, 10*time.Second)
		if s.Err == nil || s.Bundle != nil || !s.RetryAt.Equal(clock.Now().Add(test.pause)) || image.IsUndecided(s.Err) != (name == "undecided") {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestAnotherPolicyHasDecided: what was verified while the policy was another is not the result of the request under this one, whatever the policy is by
// the end.
func TestAnotherPolicyHasDecided(t *testing.T) {
	r := newRegistry(t)
	for name, test := range map[string]struct {
		refused bool   // by the other policy
		after   string // is the policy after that
	}{
		"accepted, and the policy is back":  {false, "tight"},
		"accepted, and the policy stays so": {false, "loose"},
		"refused, and the policy stays so":  {true, "loose"},
	} {
		t.Run(name, func(t *testing.T) {
			u, _, j := newJudged(t)
			decided := make(chan struct{})
			u.notify = func() {
				select {
				case decided <- struct{}{}:
				case <-t.Context().Done():
				}
			}
			j.becomes("tight", nil)
			j.decide = func(q image.VerifyRequest) (*image.Verification, error) { // the mutex is held
				j.version = test.after
				if test.refused {
					return refuses(q)
				}
				v, err := signs(q)
				v.PolicyDigest = "loose"
				return v, err
			}
			request := Request{Name: "greeter-operator.v1.0.0", Image: r.ref, Judge: true}
			u.Get(t.Context(), request, 0)
			<-decided
			j.becomes("tight", refuses)
			if test.refused {
				j.becomes("tight", signs)
			}
			s := u.Get(t.Context(), request, 0)
			if s.Done() || s.Err != nil {
				t.Fatalf("what another policy has decided is returned: %+v", s)
			}
			<-decided
			if s = u.Get(t.Context(), request, 0); s.Done() != test.refused {
				t.Errorf("under the policy of the request: %+v", s)
			}
		})
	}
	u, _, j := newJudged(t)
	j.becomes("tight", nil)
	j.decide = func(q image.VerifyRequest) (*image.Verification, error) {
		j.version, j.decide = "loose", signs
		return refuses(q)
	}
	if s, err := u.Fetch(t.Context(), Request{Name: "greeter-operator.v1.0.0", Image: r.ref, Judge: true}); err != nil || !s.Done() {
		t.Errorf("the one who waits is given no answer: %+v, %v", s, err)
	}
}
