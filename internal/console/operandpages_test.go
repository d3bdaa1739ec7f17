package console

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// operated is a namespace with an operator that provides kites, of which there are two.
func operated() []client.Object {
	return append(subscribes("ops", "mine", func(_ *v1alpha1.Subscription, csv *v1alpha1.ClusterServiceVersion) {
		csv.Annotations = map[string]string{"alm-examples": `[{"apiVersion":"example.com/v1","kind":"Kite","metadata":{"name":"first"}},{"apiVersion":"example.com/v1","kind":"Kite","metadata":{"name":"second"},"spec":{"text":"</textarea><script>alert(1)</script>"}}]`}
	}), kiteDefinition(), aKite("sky", "a", hostile), aKite("ops", "b", "x"))
}

// TestOperands: the kinds, their custom resources, and one of them as YAML.
func TestOperands(t *testing.T) {
	v := newTour(t, nil, operated()...)
	must.Contain(t, "kinds", v.shows(http.StatusOK, "/operands").text("#found"), "Kite kites.example.com, v1 2", "ops: 1", "sky: 1", "ClusterServiceVersion ops/mine.v1.0.0")
	page := v.shows(http.StatusOK, "/operands/kites.example.com?namespace=ops")
	must.Contain(t, "custom resources", page.text("#found"), "Namespace ops 1 b", "Namespace sky 1 a")
	link := page.all("a", "object=a")
	must.Equal(t, "the way to one", attribute(link[0], "href"), "/operands/kites.example.com/object?in=sky&namespace=ops&object=a")
	page = v.shows(http.StatusOK, attribute(link[0], "href"))
	must.Contain(t, "YAML", page.text("#yaml"), "kind: Kite", "<script>alert(1)</script>")
	must.Contain(t, "no operator owns it", v.shows(http.StatusNotFound, "/operands/secrets?namespace=ops").text("main"), "no operator that you may see here owns that definition", "What to do:")
	must.Contain(t, "no object", v.shows(http.StatusNotFound, "/operands/kites.example.com/object?namespace=ops&in=sky&object=none").text("main"), "What to do:")
	must.Contain(t, "nothing is provided", newTour(t, nil).shows(http.StatusOK, "/operands").text("#found"), "No installed operator provides a kind")
}

// TestCreateAnOperand begins with an example, is checked by the API server first with the problem beside, and creates what was checked.
func TestCreateAnOperand(t *testing.T) {
	refused := apierrors.NewInvalid(schema.GroupKind{Group: "example.com", Kind: "Kite"}, "bad", nil)
	v := newTour(t, func(c client.WithWatch) client.WithWatch {
		return interceptor.NewClient(c, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if o.GetName() == "bad" {
				return refused
			}
			return c.Create(ctx, o, options...)
		}})
	}, operated()...)
	const at = "/operands/kites.example.com/new?namespace=ops"
	must.Contain(t, "the first example", v.shows(http.StatusOK, at).text("textarea"), "name: first")
	page := v.shows(http.StatusOK, at+"&example=2")
	must.Contain(t, "the second example, which is text", page.text("textarea"), "name: second", "</textarea><script>alert(1)</script>")
	check := func(text string) tourPage {
		w := v.posts("/operands/kites.example.com/new", "namespace", "ops", "in", "ops", "text", text)
		must.Equal(t, "status", w.Code, http.StatusOK)
		return v.parse(w)
	}
	page = check("apiVersion: example.com/v1\nkind: Kite\nmetadata: {name: bad}\n")
	must.Contain(t, "the problem is beside", page.text("#problem"), "The API server would not take it:", `Kite.example.com "bad" is invalid`, "What to do: correct it")
	must.Contain(t, "what was typed stays", page.text("textarea"), "name: bad")
	must.Contain(t, "another kind", check("apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n").text("#problem"), "it is a Secret of v1")
	page = check("apiVersion: example.com/v1\nkind: Kite\nmetadata: {name: c}\n")
	must.Contain(t, "it would be taken", page.text("main"), "The API server would take it.")
	page.button("Create it as checked")
	if exists(v, "ops", "c") {
		t.Fatal("checking has created it")
	}
	page = v.does("/operands/kites.example.com/create", "namespace", "ops", "in", "ops", "text", "apiVersion: example.com/v1\nkind: Kite\nmetadata: {name: c}\n")
	must.Contain(t, "created", page.text("main"), "Kite c is created")
	if !exists(v, "ops", "c") {
		t.Error("it is not created")
	}
	must.Contain(t, "what is not taken", v.refuses(http.StatusBadRequest, "/operands/kites.example.com/create", "namespace", "ops", "text", "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n"), "it is a Secret of v1")
}

// TestDeleteAnOperand needs its name typed.
func TestDeleteAnOperand(t *testing.T) {
	v := newTour(t, nil, operated()...)
	const at = "/operands/kites.example.com/delete"
	v.refuses(http.StatusBadRequest, at, "namespace", "ops", "in", "sky", "object", "a", "confirm", "b")
	if !exists(v, "sky", "a") {
		t.Fatal("it is gone")
	}
	must.Contain(t, "done", v.does(at, "namespace", "ops", "in", "sky", "object", "a", "confirm", "a").text("main"), "Kite a is deleted, or is when its finalizers are done")
	if exists(v, "sky", "a") {
		t.Error("it is there")
	}
	v.refuses(http.StatusNotFound, "/operands/secrets/delete", "namespace", "ops", "in", "ops", "object", "x", "confirm", "x")
}

func exists(v *tour, namespace, name string) bool {
	v.Helper()
	o := aKite(namespace, name, "")
	err := v.cluster.Get(context.Background(), client.ObjectKeyFromObject(o), o)
	if err != nil && !apierrors.IsNotFound(err) {
		v.Fatal(errors.Join(err))
	}
	return err == nil
}
