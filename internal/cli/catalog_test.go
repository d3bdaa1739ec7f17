package cli

import (
	"bytes"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// servedCatalog is a ClusterCatalog that serves its content.
func servedCatalog(name, image string) *olmv1.ClusterCatalog {
	c := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Source = olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: image}}
	c.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: olmv1.ReasonAvailable}}
	return c
}

// TestCatalogAdd creates a catalog, waits for it, and says where it cannot be had.
func TestCatalogAdd(t *testing.T) {
	const image = "registry.example.com/toys:v1"
	stalled := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "toys"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: image}}
	stalled.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "SpecInvalidError", Message: "no such image"}, {Type: "Stalled", Status: "True"}}
	for name, test := range map[string]struct {
		objects []client.Object
		a       addition
		out     string
		err     string
	}{
		"dry run":    {nil, addition{options: ops.CatalogOptions{Name: "toys", Image: image, Namespace: "olm", DryRun: true}, wait: 1}, "would create CatalogSource olm/toys with image " + image, ""},
		"no waiting": {nil, addition{options: ops.CatalogOptions{Name: "toys", Image: image}}, "created ClusterCatalog toys with image " + image, ""},
		"serves":     {[]client.Object{servedCatalog("toys", image)}, addition{options: ops.CatalogOptions{Name: "toys", Image: image}, wait: 1e9}, "ClusterCatalog toys serves its content", ""},
		"cannot be": {[]client.Object{stalled}, addition{options: ops.CatalogOptions{Name: "toys", Image: image, Namespace: "olm"}, wait: 1e10}, "has image " + image + " already",
			"CatalogSource olm/toys: SpecInvalidError: no such image\nThe catalog stays, and is read when the cause is gone. To see how it is: fairlead catalog list. To remove it: fairlead catalog remove toys -n olm --api v0"},
		"another image": {[]client.Object{servedCatalog("toys", "registry.example.com/other:v1")}, addition{options: ops.CatalogOptions{Name: "toys", Image: image}}, "", "there is one of that name"},
	} {
		var out, errs bytes.Buffer
		test.a.Streams, test.a.output = command.Streams{Out: &out, Err: &errs}, command.OutputText
		err := test.a.run(t.Context(), cluster(t, test.objects...))
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || !strings.Contains(out.String(), test.out) {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
	}
}

// TestCatalogRemove: after what depends on it was named and the user agreed.
func TestCatalogRemove(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite", CatalogSource: "toys", CatalogSourceNamespace: "olm"}}
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "toys"}}
	for name, test := range map[string]struct {
		answer      string
		dryRun, yes bool
		code        int
		there       bool
		out         string
	}{
		"no":      {"n\n", false, false, command.ExitNo, true, "Remove CatalogSource olm/toys? [y/N]"},
		"yes":     {"y\n", false, false, command.ExitOK, false, "removed CatalogSource olm/toys"},
		"--yes":   {"", false, true, command.ExitOK, false, "removed CatalogSource olm/toys"},
		"dry run": {"", true, false, command.ExitOK, true, "would be removed"},
	} {
		c := cluster(t, sub.DeepCopy(), source.DeepCopy())
		var out, errs bytes.Buffer
		r := catalogRemoval{Change: command.Change{Streams: command.Streams{In: strings.NewReader(test.answer), Out: &out, Err: &errs}, DryRun: test.dryRun, Yes: test.yes, Output: command.OutputText}, wait: 1e10}
		code := command.Code(r.run(t.Context(), c, "", client.ObjectKeyFromObject(source)))
		there := must.Value(has(t.Context(), c, client.ObjectKeyFromObject(source), &v1alpha1.CatalogSource{}))(t)
		if code != test.code || there != test.there || !strings.Contains(out.String(), test.out) || !strings.Contains(out.String(), "Subscription ops/kite asks for package kite") {
			t.Errorf("%s: exit code %d, there %t\n%s%s", name, code, there, out.String(), errs.String())
		}
	}
}

// TestCatalogCommandsOfAClusterAndOfAuthors do not collide.
func TestCatalogCommandsOfAClusterAndOfAuthors(t *testing.T) {
	run := func(args ...string) (string, string, int) {
		var out, errs bytes.Buffer
		code := Run(t.Context(), append([]string{"catalog"}, args...), nil, &out, &errs)
		return out.String(), errs.String(), code
	}
	dir := "testdata/catalogs/catalog"
	out, errs, code := run("list", "packages", dir)
	if code != command.ExitOK || out == "" {
		t.Errorf("list packages: exit code %d: %s%s", code, out, errs)
	}
	for name, args := range map[string][]string{
		"list of what":            {"list", dir},
		"list of all and one":     {"list", "-A", "-n", "olm"},
		"add without image":       {"add", "toys"},
		"add of no API":           {"add", "toys", "x", "--api", "v2"},
		"add into a namespace":    {"add", "toys", "x", "--api", "v1", "-n", "olm"},
		"remove without name":     {"remove"},
		"remove, JSON, and asked": {"remove", "toys", "-o", "json"},
	} {
		if out, errs, code := run(args...); code != command.ExitUsage {
			t.Errorf("%s: exit code %d: %s%s", name, code, out, errs)
		}
	}
	for _, name := range []string{"add", "remove", "list"} {
		if out, _, code := run(name, "--help"); code != command.ExitOK || !strings.Contains(out, "fairlead catalog "+name) {
			t.Errorf("help of %s: exit code %d: %s", name, code, out)
		}
	}
}
