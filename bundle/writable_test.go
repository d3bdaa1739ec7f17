package bundle

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestWritable has a limit in each row, met and exceeded by the smallest step.
func TestWritable(t *testing.T) {
	object := func(apiVersion, kind, name string, more map[string]any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}}
		for key, value := range more {
			u.Object[key] = value
		}
		return u
	}
	sized := func(apiVersion, kind string) func(int) *unstructured.Unstructured {
		return func(size int) *unstructured.Unstructured {
			u := object(apiVersion, kind, "a", map[string]any{"text": ""})
			text, _ := u.MarshalJSON() // ends with a newline
			u.Object["text"] = strings.Repeat("x", size-len(text)+1)
			return u
		}
	}
	text := func(n int) string { return strings.Repeat("x", n) }
	csv := func(name, deployment string) *unstructured.Unstructured {
		return object("operators.coreos.com/v1alpha1", "ClusterServiceVersion", name, map[string]any{"spec": map[string]any{
			"install":            map[string]any{"strategy": "deployment", "spec": map[string]any{"deployments": []any{map[string]any{"name": deployment, "spec": map[string]any{}}}}},
			"webhookdefinitions": []any{map[string]any{"type": "ValidatingAdmissionWebhook", "deploymentName": deployment}},
		}})
	}
	labelled := func(n int) *unstructured.Unstructured {
		u := object("v1", "ConfigMap", "a", nil)
		u.SetLabels(map[string]string{"note": text(n)})
		return u
	}
	for name, tc := range map[string]struct {
		of    func(int) *unstructured.Unstructured
		limit int
		want  string
	}{
		"a ClusterServiceVersion": {sized("operators.coreos.com/v1alpha1", "ClusterServiceVersion"), MaxStored, "etcd takes at most 1572864"},
		"a CRD":                   {sized("apiextensions.k8s.io/v1", "CustomResourceDefinition"), MaxStored, "etcd takes at most 1572864"},
		"a custom resource":       {sized("monitoring.coreos.com/v1", "PrometheusRule"), MaxStored, "etcd takes at most 1572864"},
		"what Kubernetes stores":  {sized("rbac.authorization.k8s.io/v1", "ClusterRole"), maxRequest, "the API server takes at most 3145728"},
		"the data of a ConfigMap": {func(n int) *unstructured.Unstructured {
			return object("v1", "ConfigMap", "a", map[string]any{"data": map[string]any{"a": text(1000), "b": text(n - 1000)}})
		}, maxData, "the limit of its kind is 1048576"},
		"the data of a Secret": {func(n int) *unstructured.Unstructured {
			return object("v1", "Secret", "a", map[string]any{"data": map[string]any{"a": base64.StdEncoding.EncodeToString([]byte(text(n)))}})
		}, maxData, "the limit of its kind is 1048576"},
		"a ClusterServiceVersion's name": {func(n int) *unstructured.Unstructured { return csv(text(n), "op") }, 63, "label value of all that belongs to it: must be no more than 63"},
		"a Service for webhooks":         {func(n int) *unstructured.Unstructured { return csv("op.v1", text(n)) }, 63 - len("-service"), "of the Service for Deployment"},
		"a Service":                      {func(n int) *unstructured.Unstructured { return object("v1", "Service", text(n), nil) }, 63, "the name: must be no more than 63"},
		"a ServiceAccount":               {func(n int) *unstructured.Unstructured { return object("v1", "ServiceAccount", text(n), nil) }, 253, "the name: must be no more than 253"},
		"a label":                        {labelled, 63, `the value of label "note": must be no more than 63`},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Writable([]*unstructured.Unstructured{tc.of(tc.limit)}); err != nil {
				t.Errorf("%d is within the limit: %.300s", tc.limit, err)
			}
			err := Writable([]*unstructured.Unstructured{tc.of(tc.limit + 1)})
			if !errors.Is(err, ErrUnwritable) || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 1000 {
				t.Errorf("%d exceeds it: %.300s", tc.limit+1, err)
			}
		})
	}
	if err := Writable([]*unstructured.Unstructured{object("rbac.authorization.k8s.io/v1", "Role", "system:of:"+text(300), nil)}); err != nil {
		t.Errorf("the name of a Role may hold nearly anything: %v", err)
	}
}
