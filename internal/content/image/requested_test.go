package image

import (
	"context"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// asked is a Verifier that notes what it is asked about.
type asked struct {
	requests []VerifyRequest
	outright func(r VerifyRequest) (bool, error)
}

func (a *asked) Verify(_ context.Context, r VerifyRequest) (*Verification, error) {
	a.requests = append(a.requests, r)
	return &Verification{Outcome: Accepted, Digest: r.Digest}, nil
}

func (a *asked) Outright(r VerifyRequest) (bool, error) {
	if a.outright == nil {
		return false, nil
	}
	return a.outright(r)
}

// TestOutright: what a policy decides by the name of an image is decided without its registry.
func TestOutright(t *testing.T) {
	const absent = "registry.invalid/a:v1"
	refuse := &asked{outright: func(VerifyRequest) (bool, error) { return false, problem(Unverified, "no") }}
	s := openStore(t, Config{Verifier: refuse})
	if _, err := s.Pull(t.Context(), absent, PullOptions{}); KindOf(err) != Unverified {
		t.Errorf("pull: %v", err)
	}
	if _, err := s.Verify(t.Context(), absent, VerifyOptions{}); KindOf(err) != Unverified {
		t.Errorf("verify: %v", err)
	}
	accept := &asked{outright: func(r VerifyRequest) (bool, error) { return r.Tag == "v1" && r.Digest == "", nil }}
	s = openStore(t, Config{Verifier: accept})
	if v, err := s.Verify(t.Context(), absent, VerifyOptions{Outright: true}); err != nil || v.Outcome != Accepted || len(accept.requests) != 1 {
		t.Errorf("an accepted repository: %+v, %v", v, err)
	}
	if _, err := s.Verify(t.Context(), absent, VerifyOptions{}); err == nil {
		t.Error("a digest is made up")
	}
}

// TestThePolicyJudgesWhatIsRequested: a digest is pulled, of the repository that was asked for, and nothing else passes for it.
func TestThePolicyJudgesWhatIsRequested(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	d := r.push(t, "test/image:v1", imageOf(t, nil, gzipOf(t, tarOf(t, file("a", "1")))))
	other := r.push(t, "test/image:v2", imageOf(t, nil, gzipOf(t, tarOf(t, file("a", "2")))))
	repository := r.host + "/test/image"
	pinned := repository + "@" + d
	for name, test := range map[string]struct {
		pulled, requested string
		ref, tag          string // that are judged; empty is an invalid request
	}{
		"a tag":                   {pinned, repository + ":v1", repository + ":v1", "v1"},
		"no tag":                  {pinned, repository, repository + ":latest", "latest"},
		"itself":                  {pinned, pinned, pinned, ""},
		"nothing":                 {pinned, "", pinned, ""},
		"another repository":      {pinned, r.host + "/test/other:v1", "", ""},
		"another digest":          {pinned, repository + "@" + other, "", ""},
		"no reference":            {pinned, "::", "", ""},
		"a tag that was resolved": {repository + ":v1", repository + ":v2", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := &asked{}
			s, named := openStore(t, Config{Verifier: v}), &Origin{Ref: "c", Digest: "sha256:c"}
			img, err := s.Pull(t.Context(), test.pulled, PullOptions{Requested: test.requested, NamedBy: named})
			if test.ref == "" {
				if KindOf(err) != InvalidReference || len(v.requests) > 0 {
					t.Errorf("judged %+v: %v", v.requests, err)
				}
				return
			}
			must.NoError(t, err)
			_ = img.Close()
			if _, err := s.Verify(t.Context(), test.pulled, VerifyOptions{Requested: test.requested, NamedBy: named}); err != nil {
				t.Error(err)
			}
			for _, q := range v.requests {
				if q.Ref != test.ref || q.Tag != test.tag || q.Repository != repository || q.Digest != d || (q.NamedBy == nil) != (test.tag != "") {
					t.Errorf("judged %+v", q)
				}
			}
			if len(v.requests) != 2 || img.Pinned != pinned {
				t.Errorf("%d requests, pulled %s", len(v.requests), img.Pinned)
			}
		})
	}
}
