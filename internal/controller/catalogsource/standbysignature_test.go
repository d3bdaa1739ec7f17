package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// verifier accepts every image, or none with an error. Its policy changes with each change.
type standbyVerifier struct {
	mu      sync.Mutex
	err     error
	changes int
	expires time.Time
	onCall  func()
}

func (v *standbyVerifier) set(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.err = err
	v.changes++
}

func (v *standbyVerifier) Configured() bool { return true }

func (v *standbyVerifier) Digest() (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return fmt.Sprint("policy ", v.changes), nil
}

func (v *standbyVerifier) Verify(_ context.Context, r image.VerifyRequest) (*image.Verification, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.onCall != nil {
		defer v.onCall()
	}
	if v.err != nil {
		return nil, v.err
	}
	return &image.Verification{Outcome: image.Signed, Ref: r.Ref, Digest: r.Digest, Expires: v.expires}, nil
}

var errRefused = &image.Error{Kind: image.Unverified, Op: "verify", Reason: "its key was withdrawn", Advice: "sign it"}

// verified is a world that has read an image under a signature policy.
func verified(t *testing.T) (w *standbyWorld, v *standbyVerifier, registry *httptest.Server) {
	t.Helper()
	w, v, registry = newStandbyWorld(t), &standbyVerifier{}, httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)
	store := must.Value(image.Open(t.TempDir(), image.Config{Verifier: v, Retries: -1}))(t)
	w.Images.Images = store
	name := strings.TrimPrefix(registry.URL, "http://") + "/catalog:latest"
	push(t, name, files("one"), image.CatalogLabels())
	w.ask(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: name})
	return w, v, registry
}

// TestContentIsJudgedWhileItsRegistryIsAway: a manager that does not lead keeps what the policy accepts, and nothing else.
func TestContentIsJudgedWhileItsRegistryIsAway(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"accepted":  {nil, "one, with a problem"},
		"refused":   {errRefused, ", with a problem"},
		"undecided": {errors.New("signatures cannot be read"), ", with a problem"},
	} {
		t.Run(name, func(t *testing.T) {
			w, v, registry := verified(t)
			w.expect("at first", "one")
			registry.Close()
			v.set(test.err)
			w.expect("under another policy", test.want)
		})
	}
}

// TestOnlyARefusalDropsContent: what is not decided on is withheld, and is there again once it is accepted, though its registry is away.
func TestOnlyARefusalDropsContent(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string // once it is accepted again
	}{
		"refused":                         {errRefused, ", with a problem"},
		"undecided":                       {errors.New("signatures cannot be read"), "one, with a problem"},
		"undecided under the same policy": {errors.New("signatures cannot be read"), "one, with a problem"},
		"the policy cannot be read":       {&image.Error{Kind: image.Unverified, Reason: "line 1", Err: image.ErrUnreadablePolicy}, "one, with a problem"},
	} {
		t.Run(name, func(t *testing.T) {
			w, v, registry := verified(t)
			w.expect("at first", "one")
			registry.Close()
			v.set(test.err)
			if name == "undecided under the same policy" {
				v.changes--
				w.polled()
			}
			w.expect("not accepted", ", with a problem")
			if e, _ := w.Contents.Get(standbyRef); e.Withheld != (name != "refused") {
				t.Errorf("not accepted: %+v", e)
			}
			v.set(nil)
			w.clock.Step(time.Hour)
			w.expect("accepted again", test.want)
		})
	}
}

// TestContentIsWithheldUntilItIsJudged under a policy that has changed, also where that happens while the catalog is read.
func TestContentIsWithheldUntilItIsJudged(t *testing.T) {
	t.Run("before a turn to read", func(t *testing.T) {
		w, v, _ := verified(t)
		w.expect("at first", "one")
		v.set(nil)
		for range cap(w.slots) {
			w.slots <- struct{}{}
		}
		must.NoError(t, w.look(t.Context(), w.slots, false))
		if e, _ := w.Contents.Get(standbyRef); e.Index != nil || !e.Withheld {
			t.Errorf("published %+v", e)
		}
		for range cap(w.slots) {
			<-w.slots
		}
		w.expect("judged", "one")
	})
	t.Run("while it is read", func(t *testing.T) {
		w, v, _ := verified(t)
		decisions := 0
		v.onCall = func() {
			if decisions++; decisions == 2 { // before it was pulled, and by what pulled it
				v.err, v.changes = errRefused, v.changes+1
			}
		}
		w.expect("accepted by the policy before", "")
		w.expect("judged", ", with a problem")
	})
	t.Run("after the verification has expired", func(t *testing.T) {
		w, v, _ := verified(t)
		v.expires = w.clock.Now().Add(time.Hour)
		w.expect("at first", "one")
		v.err = errRefused
		w.clock.Step(time.Hour)
		w.expect("later", ", with a problem")
	})
	t.Run("once this manager leads", func(t *testing.T) {
		w, v, _ := verified(t)
		w.expect("at first", "one")
		if got := w.looks(true); got != "one" {
			t.Errorf("got %s", got)
		}
		v.set(errRefused)
		if got := w.looks(true); got != "nothing" {
			t.Errorf("got %s", got)
		}
	})
}

// TestWithheldContentHasNoSubstitute: what was read before this manager led does not take its place.
func TestWithheldContentHasNoSubstitute(t *testing.T) {
	w, _, _ := verified(t)
	w.expect("at first", "one")
	both := Contents{Leading: w.Leading, Standby: w.Contents}
	w.Leading.Publish(standbyRef, catalogstore.Entry{Problem: "being loaded"})
	if e, _ := both.Get(standbyRef); e.Index == nil {
		t.Errorf("while it is being loaded: %+v", e)
	}
	w.Leading.Publish(standbyRef, catalogstore.Entry{Problem: "refused", Withheld: true})
	if e, known := both.Get(standbyRef); e.Index != nil || !known || e.Problem != "refused" {
		t.Errorf("withheld: %+v", e)
	}
	must.Equal(t, "it stays in memory", w.looks(true), "nothing")
}
