package clusterextension

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// policy is a signature policy: bundles are accepted as they are judged.
type policy struct{ version string }

func (p *policy) Policy() string { return p.version }
func (p *policy) Verifies() bool { return p.version != "" }
func (p *policy) Verify(context.Context, string, image.VerifyOptions) (*image.Verification, error) {
	return nil, errors.New("this is asked of the unpacker")
}

const digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// newVerifiedWorld is a world with a policy that lets all bundles pass, as signed.
func newVerifiedWorld(t *testing.T) (*world, *policy) {
	t.Helper()
	w := newWorld(t, want("my", "a", ""))
	p := &policy{version: "sha256:loose"}
	w.controller.Verifier = p
	w.bundles.judge = signs
	return w, p
}

func signs(r bundleio.Request) (*image.Verification, error) {
	return &image.Verification{Outcome: image.Signed, Ref: r.Image, Digest: digestA, Signers: []image.Signer{{Key: "sha256:k"}}}, nil
}

// refuses is a policy that was tightened. It notes what it is asked about.
func refuses(asked *bundleio.Request) func(bundleio.Request) (*image.Verification, error) {
	return func(r bundleio.Request) (*image.Verification, error) {
		*asked = r
		return nil, &image.Error{Kind: image.Unverified, Op: "verify", Ref: r.Image, Reason: "rule 1 of /p rejects it", Advice: "correct the policy"}
	}
}

// TestUnsignedBundle is not installed, and what is installed stays.
func TestUnsignedBundle(t *testing.T) {
	w, _ := newVerifiedWorld(t)
	w.serve("cat", pkg("a", "1.0.0"))
	w.settle("my")
	if got := w.condition("my", olmv1.TypeSignatureVerified); got != "True/Signed: bundle a.v1.0.0 is signed by key sha256:k" {
		t.Error(got)
	}
	var asked bundleio.Request
	w.bundles.judge = refuses(&asked)
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.settle("my")
	if got := w.condition("my", olmv1.TypeSignatureVerified); asked.Name != "a.v1.1.0" || !strings.HasPrefix(got, "False/Unverified: ") || !strings.Contains(got, "rule 1 of /p rejects it") {
		t.Errorf("of %s: %s", asked.Name, got)
	}
	if got := w.condition("my", "Progressing"); w.installed("my") != "a.v1.0.0" || !strings.HasPrefix(got, "False/Blocked") {
		t.Errorf("%s is installed: %s", w.installed("my"), got)
	}
}

// TestRollbackUnderATightenedPolicy: a rollback to a bundle that the policy refuses by now is blocked, and the condition has the reason. The automatic
// rollback of a failed rollout is not.
func TestRollbackUnderATightenedPolicy(t *testing.T) {
	upgraded := func(t *testing.T) (*world, *policy) {
		w, p := newVerifiedWorld(t)
		w.serve("cat", pkg("a", "1.0.0"))
		w.settle("my")
		w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
		return w, p
	}
	t.Run("to what the user names", func(t *testing.T) {
		w, p := upgraded(t)
		w.settle("my")
		var asked bundleio.Request
		p.version, w.bundles.judge = "sha256:tight", refuses(&asked)
		w.annotate("my", desired.RollbackToKey, "1")
		w.settle("my")
		got := w.condition("my", "Progressing")
		for _, text := range []string{"False/Blocked: roll back to revision my-1: ", "rule 1 of /p rejects it", "remove annotation " + desired.RollbackToKey} {
			if !strings.Contains(got, text) {
				t.Errorf("%q is not in %s", text, got)
			}
		}
		if w.installed("my") != "a.v1.1.0" || len(w.revisions("my")) != 2 {
			t.Errorf("%s is installed: %v", w.installed("my"), names(w.revisions("my")))
		}
		if want := "quay.io/a@" + digestA; !asked.Judge || asked.Image != want || asked.Requested != "quay.io/a:v1.0.0" {
			t.Errorf("asked about %+v, want %s", asked, want)
		}
		if got := w.condition("my", olmv1.TypeSignatureVerified); !strings.HasPrefix(got, "False/Unverified") {
			t.Error(got)
		}
		p.version, w.bundles.judge = "sha256:loose again", signs
		w.settle("my")
		w.expectInstalled("my", "a.v1.0.0")
		p.version, w.bundles.judge = "sha256:tight", refuses(&asked)
		w.settle("my")
		must.Equal(t, "what is installed does not stay", w.installed("my"), "a.v1.0.0")
	})
	t.Run("from what failed", func(t *testing.T) {
		w, p := upgraded(t)
		w.annotate("my", revision.OnFailureKey, revision.OnFailureRollback)
		w.pass("my")
		var asked bundleio.Request
		p.version, w.bundles.judge = "sha256:tight", refuses(&asked)
		w.says(w.newest("my"), exceeded...)
		w.settle("my")
		if got := w.installed("my"); got != "a.v1.0.0" || w.newest("my").Spec.Revision != 3 {
			t.Errorf("%s is installed, and revisions are %v: %s", got, names(w.revisions("my")), w.condition("my", "Progressing"))
		}
	})
}

// TestJudgementOf a revision is about the digest that it had, as far as that is known.
func TestJudgementOf(t *testing.T) {
	const tag, byDigest = "quay.io/a:v1", "quay.io/a@" + digestA
	catalog := &image.Origin{Ref: "quay.io/c:v1", Digest: "sha256:c"}
	covered := &image.Verification{Outcome: image.Covered, Digest: digestA, Catalog: catalog}
	for name, test := range map[string]struct {
		image            string
		recorded         *image.Verification
		wants, requested string
		by               *image.Origin
		nothing          bool
	}{
		"by digest":               {image: byDigest, wants: byDigest},
		"by digest, covered":      {image: byDigest, recorded: covered, wants: byDigest, by: catalog},
		"by tag":                  {image: tag, recorded: &image.Verification{Digest: digestA}, wants: byDigest, requested: tag},
		"by tag, before a policy": {image: tag, wants: tag},
		"in a signed catalog":     {recorded: &image.Verification{Outcome: image.Covered, Ref: catalog.Ref, Digest: catalog.Digest, Catalog: catalog}, by: catalog},
		"in an accepted catalog":  {recorded: &image.Verification{Outcome: image.Accepted, Ref: catalog.Ref, Digest: catalog.Digest}, by: catalog},
		"in a catalog, before":    {nothing: true},
	} {
		r := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{olmv1.BundleReferenceKey: test.image, verificationKey: image.Record(test.recorded)}}}
		ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{desired.RollbackToKey: "0"}}}
		got := judgementOf(desired.Next(ext, desired.Observed{Revisions: revision.History{*r}}, desired.Offer{}, time.Time{}).Target)
		if test.nothing {
			if got != nil {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if got == nil || !got.Judge || got.Image != test.wants || got.Requested != test.requested || (got.NamedBy == nil) != (test.by == nil) || test.by != nil && *got.NamedBy != *test.by {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestRollbackToAnUnknownDigest: a tag says nothing about what it stood for then, unless the policy accepts the repository.
func TestRollbackToAnUnknownDigest(t *testing.T) {
	w := installedWorld(t)
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.settle("my")
	p := &policy{version: "sha256:new"}
	w.controller.Verifier, w.bundles.judge = p, signs
	w.annotate("my", desired.RollbackToKey, "1")
	w.settle("my")
	if got := w.condition("my", "Progressing"); w.installed("my") != "a.v1.1.0" || !strings.Contains(got, "which digest that stood for is not known") {
		t.Errorf("%s is installed: %s", w.installed("my"), got)
	}
	if got := w.condition("my", olmv1.TypeSignatureVerified); !strings.HasPrefix(got, "Unknown/Undecided") {
		t.Error(got)
	}
	p.version = "sha256:accepts"
	w.bundles.judge = func(bundleio.Request) (*image.Verification, error) {
		return &image.Verification{Outcome: image.Accepted}, nil
	}
	w.settle("my")
	w.expectInstalled("my", "a.v1.0.0")
}

// TestWhatWasRenderedExpires: what was rendered and could not be written is not used once the verification of its bundle has ended.
func TestWhatWasRenderedExpires(t *testing.T) {
	for name, test := range map[string]struct {
		after time.Duration
		asked bool
	}{"before": {time.Minute, false}, "after": {2 * time.Hour, true}} {
		t.Run(name, func(t *testing.T) {
			w, _ := newVerifiedWorld(t)
			w.bundles.judge = func(r bundleio.Request) (*image.Verification, error) {
				v, err := signs(r)
				v.Expires = w.clock.Now().Add(time.Hour)
				return v, err
			}
			w.serve("cat", pkg("a", "1.0.0"))
			w.server.KillAt(2, false) // it is rendered, and cannot be written
			_, _ = w.controller.Reconcile(t.Context(), requestFor("my"))
			if known, ok := w.controller.fetcher.rendered.Get("my"); !ok || known.(*content).expires.IsZero() {
				t.Fatalf("nothing is kept for the next pass: %+v", known)
			}
			w.clock.Step(test.after)
			var asked bundleio.Request
			w.bundles.judge = refuses(&asked)
			w.settle("my")
			if got := w.installed("my"); (asked.Name != "") != test.asked || (got == "") != test.asked {
				t.Errorf("asked about %q, and %q is installed", asked.Name, got)
			}
		})
	}
}
