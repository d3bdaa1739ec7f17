package ops

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	operatorsv2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// canary is a value that must not get out, each with a number of its own.
func canary(n int) string { return fmt.Sprintf("canary-%d-Zm9yYmlkZGVu", n) }

const canaries = 11

// confided is a cluster in which values that give access are in every place that one can think of.
func confided() []client.Object {
	in := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	secret := &corev1.Secret{ObjectMeta: in("ops", "mine"), Data: map[string][]byte{"password": []byte(canary(0))}}
	secret.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: `{"kind":"Secret","stringData":{"x":"` + canary(1) + `"}}`}
	config := &corev1.ConfigMap{ObjectMeta: in("ops", "settings"), Data: map[string]string{"config": canary(2)}}
	deployment := &appsv1.Deployment{ObjectMeta: in("ops", "operator")}
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "manager", Image: "registry.example.com/operator", Env: []corev1.EnvVar{
		{Name: "DB_PASSWORD", Value: canary(3)}, {Name: "HTTPS_PROXY", Value: "http://user:" + canary(4) + "@proxy.example.com:3128"}, {Name: "MODE", Value: "plain"}}}}
	pod := &corev1.Pod{ObjectMeta: in("ops", "operator-1")}
	pod.Spec.Containers = []corev1.Container{{Name: "manager", Args: []string{"--token=" + canary(5)}}, {Name: "sidecar"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "manager", RestartCount: 2}}
	plan := &v1alpha1.InstallPlan{ObjectMeta: in("ops", "install-1")}
	plan.Status.Plan = []*v1alpha1.Step{{Resolving: "a.v1", Resource: v1alpha1.StepResource{Kind: "Secret", Name: "of-a", Manifest: `{"data":{"x":"` + canary(6) + `"}}`}}}
	inline := unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "inline"}, "stringData": map[string]any{"x": canary(7)}}}
	set := &olmv1.ClusterObjectSet{ObjectMeta: in("", "tool-1"), Spec: olmv1.ClusterObjectSetSpec{Phases: []olmv1.ClusterObjectSetPhase{{Name: "a", Objects: []olmv1.ClusterObjectSetObject{{Object: &inline}}}}}}
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: in("ops", "a.v1")}
	csv.Annotations = map[string]string{"alm-examples": `[{"spec":{"password":"` + canary(8) + `"}}]`}
	copied := &v1alpha1.ClusterServiceVersion{ObjectMeta: in("apps", "a.v1")}
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "ops"}
	copied.Status.Reason = v1alpha1.CSVReasonCopied
	event := &corev1.Event{ObjectMeta: in("ops", "event"), Message: "pull with Authorization: Bearer " + canary(9)}
	return []client.Object{secret, config, deployment, pod, plan, set, csv, copied, event, &corev1.Secret{ObjectMeta: in("elsewhere", "other")},
		&olmv1.ClusterExtension{ObjectMeta: in("", "tool"), Spec: olmv1.ClusterExtensionSpec{Namespace: "tools"}}, &appsv1.Deployment{ObjectMeta: in("tools", "tool")},
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: in("", "things.example.com")}}
}

// unpackedArchive is the content of an archive by name.
func unpackedArchive(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	packed := must.Value(gzip.NewReader(bytes.NewReader(archive)))(t)
	files, in := map[string]string{}, tar.NewReader(packed)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		must.NoError(t, err)
		files[h.Name] = string(must.Value(io.ReadAll(in))(t))
	}
}

// TestMustGather: what helps is in the archive, no value that gives access is, and what could not be read is noted.
func TestMustGather(t *testing.T) {
	s := fakeapi.Scheme(corev1.AddToScheme, appsv1.AddToScheme, admissionv1.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme, operatorsv1.AddToScheme, operatorsv2.AddToScheme, olmv1.AddToScheme)
	c := fake.NewClientBuilder().WithScheme(s).WithObjects(confided()...).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			switch list.GetObjectKind().GroupVersionKind().Kind {
			case "ServiceAccountList":
				return apierrors.NewForbidden(schema.GroupResource{Resource: "serviceaccounts"}, "", errors.New("not you"))
			case "APIServiceList":
				return apierrors.NewNotFound(schema.GroupResource{Resource: "apiservices"}, "")
			}
			return c.List(ctx, list, options...)
		},
	}).Build()
	logs := func(_ context.Context, pod client.ObjectKey, container string, previous bool) (io.ReadCloser, error) {
		if container == "sidecar" {
			return nil, errors.New("it has not started")
		}
		return io.NopCloser(strings.NewReader(fmt.Sprintf("%s started, previous %t\ntoken: %s\n", pod, previous, canary(10)))), nil
	}
	var out bytes.Buffer
	g := Gathering{Client: c, Logs: logs, Namespace: "olm", About: "about this cluster", Now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	g.Doctor = func(context.Context) *Diagnosis {
		return &Diagnosis{Findings: 1, Checks: []Check{{Name: "catalogs", Result: CheckFailed, Findings: []Finding{{Object: "CatalogSource ops/a", Problem: "Authorization: Bearer " + canary(9)}}}}}
	}
	result := must.Value(g.MustGather(t.Context(), &out))(t)
	files := unpackedArchive(t, out.Bytes())
	must.Equal(t, "files", len(files), result.Files)
	for name, part := range map[string]string{
		"README.txt":                                               "about this cluster",
		"doctor.txt":                                               "✗ catalogs            1 problem\n    CatalogSource ops/a: Authorization: Bearer (redacted)",
		"namespaces/ops/Secret/mine.yaml":                          "password: (21 bytes)",
		"namespaces/ops/ConfigMap/settings.yaml":                   "config: (2",
		"namespaces/ops/Deployment/operator.yaml":                  "value: plain",
		"namespaces/ops/InstallPlan/install-1.yaml":                "manifest: (",
		"namespaces/ops/ClusterServiceVersion/a.v1.yaml":           "alm-examples",
		"namespaces/ops/logs/operator-1/manager.log":               "ops/operator-1 started, previous false",
		"namespaces/ops/logs/operator-1/manager.previous.log":      "previous true",
		"namespaces/tools/Deployment/tool.yaml":                    "name: tool",
		"cluster/ClusterObjectSet/tool-1.yaml":                     "kind: Secret",
		"cluster/CustomResourceDefinition/things.example.com.yaml": "things.example.com",
	} {
		if text, ok := files["must-gather/"+name]; !ok || !strings.Contains(text, part) {
			t.Errorf("%s has no %q: there %t: %s", name, part, ok, text)
		}
	}
	for name, text := range files {
		for n := range canaries {
			if plain := canary(n); strings.Contains(text, plain) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(plain))) {
				t.Errorf("%s has canary %d: %s", name, n, text)
			}
		}
		if strings.Contains(name, "/elsewhere/") || strings.Contains(name, "/apps/") {
			t.Errorf("%s is of a namespace without an operator", name)
		}
	}
	for _, part := range []string{"the cluster has no kind APIService", `ServiceAccount objects of namespace ops cannot be read by this user: they are left out`,
		"1 copies of ClusterServiceVersions are left out", "read the log of container sidecar of pod ops/operator-1: it has not started"} {
		if !slices.ContainsFunc(result.Notes, func(note string) bool { return strings.Contains(note, part) }) || !strings.Contains(files["must-gather/README.txt"], part) {
			t.Errorf("it is not noted that %q: %q", part, result.Notes)
		}
	}
}

// TestRedactText: what gives access goes, and what helps stays.
func TestRedactText(t *testing.T) {
	for text, want := range map[string]string{
		"dial https://user:pa55word@registry.example.com/v2/": "dial https://(redacted)registry.example.com/v2/",
		"Authorization: Bearer eyJhbGciOi.abc-def":            "Authorization: Bearer (redacted)",
		`{"password": "pa55word", "user": "me"}`:              `{"password": "(redacted)", "user": "me"}`,
		"the Secret ops/mine is not there":                    "the Secret ops/mine is not there",
		"secret \"mine\" not found":                           "secret \"mine\" not found",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END":     "-----BEGIN RSA PRIVATE KEY-----(redacted)-----END",
		"https://registry.example.com/v2/ and sha256:0123":    "https://registry.example.com/v2/ and sha256:0123",
	} {
		must.Equal(t, text, messages.Redact(text), want)
	}
}
