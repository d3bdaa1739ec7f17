package image

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"github.com/google/go-cmp/cmp"
)

var (
	signed     = &Verification{Outcome: Signed, Digest: "sha256:old", Signers: []Signer{{Key: "sha256:k"}}}
	unverified = &Error{Kind: Unverified, Op: "verify", Ref: "r", Reason: "rule 1 of /p refuses it", Advice: "sign it"}
)

func TestCondition(t *testing.T) {
	for name, test := range map[string]struct {
		verdict Verdict
		want    string // status and reason; empty is no condition
	}{
		"no policy":              {Verdict{}, ""},
		"signed":                 {Verdict{Verification: signed}, "True Signed"},
		"covered by its catalog": {Verdict{Verification: &Verification{Outcome: Covered, Catalog: &Origin{}}}, "True Covered"},
		"accepted":               {Verdict{Verification: &Verification{Outcome: Accepted}}, "True Accepted"},
		"refused":                {Verdict{Err: unverified}, "False Unverified"},
		"the registry is down":   {Verdict{Err: errors.New("down")}, "Unknown Undecided"},
		"an error comes first":   {Verdict{Verification: signed, Err: unverified}, "False Unverified"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if c := test.verdict.Condition(); c != nil {
				got = string(c.Status) + " " + c.Reason
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestTypesAreTheSame in both APIs, as the table of the documentation says.
func TestTypesAreTheSame(t *testing.T) {
	for _, kind := range []string{v1alpha1.CatalogSourceSignatureVerified, string(v1alpha1.BundleLookupSignatureVerified)} {
		if kind != olmv1.TypeSignatureVerified {
			t.Errorf("%q is not %q", kind, olmv1.TypeSignatureVerified)
		}
	}
}

// verifier lets the digests pass that it has a verification for.
type verifier struct {
	policy  string
	accepts map[string]*Verification
}

func (v verifier) Policy() string { return v.policy }
func (v verifier) Verifies() bool { return v.policy != "" }
func (v verifier) Verify(_ context.Context, _ string, o VerifyOptions) (*Verification, error) {
	if found := v.accepts[o.Digest]; found != nil {
		return found, nil
	}
	return nil, unverified
}

// attempt reads a catalog whose reference stands for a digest.
func attempt(t *testing.T, v verifier, before Content, served, digest string) Content {
	t.Helper()
	a := BeginAttempt(v, "r:v1", Auth{})
	err := a.Verify(t.Context(), VerifyOptions{Digest: digest})
	return before.After(a.Judgement(t.Context(), err, before, served), err)
}

// TestASwappedTag leaves what is served, and reports both.
func TestASwappedTag(t *testing.T) {
	v := verifier{"p1", map[string]*Verification{"sha256:old": signed}}
	known := attempt(t, v, Content{}, "", "sha256:old")
	known = attempt(t, v, known, "sha256:old", "sha256:evil")
	if known.Withheld() {
		t.Error("content that the policy accepts is withheld")
	}
	c := known.Condition(true)
	if c == nil || c.Reason != olmv1.ReasonUnverified || !strings.Contains(c.Message, "rule 1 of /p") || !strings.Contains(c.Message, "sha256:old is served") {
		t.Errorf("reported: %+v", c)
	}
}

// TestATightenedPolicy withholds what was served, at once, and gives it back when the policy accepts it again.
func TestATightenedPolicy(t *testing.T) {
	loose := verifier{"p1", map[string]*Verification{"sha256:old": signed}}
	known := attempt(t, loose, Content{}, "", "sha256:old")
	if known = known.Stale("p1", time.Time{}); known.Withheld() {
		t.Fatal("withheld under the same policy")
	}
	if known = known.Stale("p2", time.Time{}); !known.Withheld() {
		t.Fatal("served under a policy that was not asked")
	}
	known = attempt(t, verifier{policy: "p2"}, known, "sha256:old", "sha256:old")
	if known.Pending || !known.Withheld() {
		t.Fatalf("refused content is served: %+v", known)
	}
	known = attempt(t, loose, known.Stale("p1", time.Time{}), "sha256:old", "sha256:old")
	if known.Withheld() || known.Condition(true).Reason != olmv1.ReasonSigned {
		t.Errorf("content that is accepted again stays withheld: %+v", known)
	}
}

// TestRestoredContent is withheld until it is verified, where there is a policy.
func TestRestoredContent(t *testing.T) {
	if !Restored(verifier{policy: "p"}, "r:v1").Withheld() || Restored(verifier{}, "r:v1").Withheld() || Restored(nil, "r:v1").Withheld() {
		t.Error("content of an earlier run is withheld exactly where a policy is configured")
	}
}

func TestExpires(t *testing.T) {
	now := time.Now()
	known := Content{Image: "r", Served: Verdict{Verification: &Verification{Expires: now}}}
	if known.Due("", now.Add(-time.Second)) || !known.Due("", now) {
		t.Error("a verification is due again exactly when it has expired")
	}
}

// TestAVerdictIsThatOfThePolicyThatDecided, which may have come and gone while an attempt was under way.
func TestAVerdictIsThatOfThePolicyThatDecided(t *testing.T) {
	for _, test := range []struct {
		began, decided, now string
		want                bool
	}{
		{"p1", "p1", "p1", false},
		{"p1", "", "p1", false}, // a verifier that does not say so
		{"p1", "", "p2", true},
		{"p1", "p2", "p1", true},
		{"p1", "p2", "p2", true}, // it is not known what else was decided before
		{"p2", "p1", "p2", true},
		{"", "", "", false},
	} {
		v := verifier{test.began, map[string]*Verification{"sha256:old": {Outcome: Signed, PolicyDigest: test.decided}}}
		known := attempt(t, v, Content{}, "", "sha256:old")
		if got := known.Stale(test.now, time.Time{}).Withheld(); got != test.want {
			t.Errorf("%+v: withheld %t", test, got)
		}
	}
}

// TestAFailureDoesNotRenewAVerdict of a policy before, where nothing was decided on what is served.
func TestAFailureDoesNotRenewAVerdict(t *testing.T) {
	known := attempt(t, verifier{"p1", map[string]*Verification{"sha256:old": {Outcome: Accepted, PolicyDigest: "p1"}}}, Content{}, "", "sha256:old")
	if known = attempt(t, verifier{policy: "p2"}, known, "", "sha256:new"); !known.Stale("p2", time.Time{}).Withheld() {
		t.Errorf("served under a policy that was not asked: %+v", known)
	}
}

func TestRecord(t *testing.T) {
	if diff := cmp.Diff(signed, Recorded(map[string]string{OutcomeKey: Record(signed)})); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if Record(nil) != "" || Recorded(nil) != nil || Recorded(map[string]string{OutcomeKey: "{"}) != nil {
		t.Error("a verification comes of nothing")
	}
}
