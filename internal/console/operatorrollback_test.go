package console

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const wayBack = "/operator/ClusterExtension/apps/modern/rollback"

// dropping is a ClusterExtension whose newest revision has a CustomResourceDefinition that the one before lacks: the proof of the way back reads it.
func dropping() []client.Object {
	objects := extended("apps", "modern", "a", "b")
	newest := objects[2].(*olmv1.ClusterObjectSet)
	crd := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiextensionsv1.SchemeGroupVersion.String(), "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "kites.example.com"}}}
	newest.Spec.Phases[0].Objects = append(newest.Spec.Phases[0].Objects, olmv1.ClusterObjectSetObject{Object: crd})
	live := kiteDefinition()
	live.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterObjectSetKind, Name: newest.Name, UID: newest.UID, Controller: new(true)}})
	return append(objects, live)
}

// proving lets do come before each reading of what the proof of dropping is about.
func proving(do func(context.Context) error) func(client.WithWatch) client.WithWatch {
	return func(c client.WithWatch) client.WithWatch {
		return interceptor.NewClient(c, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if key.Name == "kites.example.com" {
				if err := do(ctx); err != nil {
					return err
				}
			}
			return c.Get(ctx, key, o, options...)
		}})
	}
}

// TestProofThatTakesLong: the page is there at once and says that the proof is being made, without a button; programs wait for it, and it is kept until the object
// changes.
func TestProofThatTakesLong(t *testing.T) {
	gate := make(chan struct{})
	var made atomic.Int32
	v := newTour(t, proving(func(context.Context) error { made.Add(1); <-gate; return nil }), dropping()...)
	begun := time.Now()
	page := v.shows(http.StatusOK, wayBack)
	if took := time.Since(begun); took > must.Within(patience+2*time.Second) {
		t.Errorf("the page took %s", took)
	}
	must.Contain(t, "the part that follows", page.text("#outcome"), "The proof is being made")
	must.Lack(t, "meanwhile", page.text("main"), "Proven", "Go back to")
	must.Contain(t, "without script", page.text("noscript"), `href="`+wayBack+`?to="`)
	whole := make(chan rollbackPage)
	go func() { whole <- answers[rollbackPage](v, wayBack) }()
	close(gate)
	program := <-whole
	must.Equal(t, "programs wait", []int64{program.From.Number, program.To.Number}, []int64{2, 1})
	text := v.planned(wayBack)
	must.Contain(t, "then", text, "From revision 2 (2.0.0) back to revision 1 (1.0.0)", "Proven: nothing is lost.", "Removed CustomResourceDefinition kites.example.com", "Go back to revision 1")

	v.keeps(wayBack, &made, client.ObjectKey{Name: "modern"}, &olmv1.ClusterExtension{})
}

// TestRollbackOfAProofThatIsOld: what has come into the way since the page was shown stops the step back.
func TestRollbackOfAProofThatIsOld(t *testing.T) {
	v := newTour(t, nil, dropping()...)
	must.Contain(t, "nothing in the way", v.planned(wayBack), "Proven: nothing is lost.")
	must.NoError(t, v.cluster.Create(t.Context(), aKite("sky", "a", "x")))
	must.Contain(t, "refused", v.refuses(http.StatusConflict, wayBack, "to", "1"), "stays at revision 2: custom resources would be lost")
	e := &olmv1.ClusterExtension{}
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Name: "modern"}, e))
	must.Equal(t, "nothing was asked", e.Annotations[ops.RollbackToKey], "")
	kite := aKite("sky", "a", "x")
	must.NoError(t, v.cluster.Delete(t.Context(), kite))
	v.does(wayBack, "to", "1")
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Name: "modern"}, e))
	must.Equal(t, "what was shown is done", e.Annotations[ops.RollbackToKey], "1")
}

// TestProofThatFails: the page says why, and what to do, and has no button; a program has it as an error.
func TestProofThatFails(t *testing.T) {
	objects := dropping()
	newest, before := objects[2].(*olmv1.ClusterObjectSet), objects[1].(*olmv1.ClusterObjectSet)
	before.Spec.Phases = newest.Spec.Phases // a definition that stays has to be compared
	v := newTour(t, proving(func(context.Context) error { return errors.New("the disk is full " + hostile) }), objects...)
	text := v.fails(wayBack, http.StatusBadRequest)
	must.Contain(t, "the page", text, "Whether something would be lost is not known:", "the disk is full "+hostile)
	must.Lack(t, "a button", text, "Proven", "Go back to")
}

// TestProofOfAnotherUser: what was read with the rights of one user is not shown to another one.
func TestProofOfAnotherUser(t *testing.T) {
	v := newTour(t, nil, dropping()...)
	must.Contain(t, "the first", v.planned(wayBack), "Proven: nothing is lost.")
	theirs := proving(func(context.Context) error { return errors.New("not for the second") })(v.user.client)
	other := &User{Name: "other", Namespace: "ops", client: theirs, cluster: preview.Cluster{Reader: theirs, Server: tourServer{}}}
	first := v.cookie
	v.cookie = &http.Cookie{Name: first.Name, Value: must.Value(v.console.sessions.begin(other))(t)}
	text := v.planned(wayBack)
	must.Contain(t, "the second", text, "not for the second")
	must.Lack(t, "the second", text, "Proven")
	v.cookie = first
	must.Contain(t, "the first", v.planned(wayBack), "Proven: nothing is lost.")
}

// TestForgottenProofs: who has left the console leaves none behind.
func TestForgottenProofs(t *testing.T) {
	v := newTour(t, nil, dropping()...)
	v.planned(wayBack)
	v.user.credential = &credential{}
	door{v.console}.forget(v.user)
	must.Equal(t, "proofs that are kept", len(v.console.proofs.kept), 0)
	v.user.credential = nil
}
