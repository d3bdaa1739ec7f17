package clusterserviceversion

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// withProxy gives the cluster the kind of the proxy, and one with the fields in its status.
func (k *cluster) withProxy(fields map[string]any) {
	k.t.Helper()
	proxy := newProxy()
	proxy.SetName(proxyName)
	proxy.Object["status"] = fields
	k.create(newCRD(proxyCRD, "v1"), proxy)
}

func (k *cluster) managerEnv() map[string]string {
	k.t.Helper()
	out := map[string]string{}
	for _, e := range k.deployment("manager").Spec.Template.Spec.Containers[0].Env {
		out[e.Name] = e.Value
	}
	return out
}

// TestProxyOfTheCluster reaches the operator with its first roll-out, follows changes, and stays out where the
// Subscription names one of the variables.
func TestProxyOfTheCluster(t *testing.T) {
	for name, tc := range map[string]struct {
		config []corev1.EnvVar
		want   map[string]string
	}{
		"nothing said": {nil, map[string]string{"HTTP_PROXY": "http://proxy:1", "NO_PROXY": ".svc"}},
		"another variable": {[]corev1.EnvVar{{Name: "A", Value: "1"}},
			map[string]string{"A": "1", "HTTP_PROXY": "http://proxy:1", "NO_PROXY": ".svc"}},
		"one of the variables": {[]corev1.EnvVar{{Name: "NO_PROXY", Value: ""}}, map[string]string{"NO_PROXY": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newGroup(ns), &v1alpha1.Subscription{
				ObjectMeta: newGroup().ObjectMeta, Spec: &v1alpha1.SubscriptionSpec{Config: &v1alpha1.SubscriptionConfig{Env: tc.config}},
				Status: v1alpha1.SubscriptionStatus{InstalledCSV: "op.v1"},
			})
			k.withProxy(map[string]any{"httpProxy": "http://proxy:1", "httpsProxy": "", "noProxy": ".svc"})
			k.installed(newCSV("op.v1"))
			tc.want["OPERATOR_CONDITION_NAME"] = "op.v1"
			must.Equal(t, "environment of the manager", k.managerEnv(), tc.want)
		})
	}
}

func TestChangedProxyRollsOut(t *testing.T) {
	k := running(t)
	k.withProxy(map[string]any{"httpsProxy": "http://proxy:2"})
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	must.Equal(t, "HTTPS_PROXY", k.managerEnv()["HTTPS_PROXY"], "http://proxy:2")
	k.rollsOut("op.v1")
	proxy := newProxy()
	proxy.SetName(proxyName)
	k.delete(proxy)
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	if got, ok := k.managerEnv()["HTTPS_PROXY"]; ok {
		t.Errorf("HTTPS_PROXY is still %q", got)
	}
}

// TestProxyThatCannotBeRead: an operator that runs stays as it is, and the pass is repeated.
func TestProxyThatCannotBeRead(t *testing.T) {
	k := running(t)
	k.withProxy(map[string]any{"httpProxy": map[string]any{"no": "text"}})
	k.fails("op.v1")
	expect(t, k.csv("op.v1"), toSucceeded, "InstallSucceeded", "")
}

// TestProxyIsWatchedOnceItsKindIsThere, and wakes everyone.
func TestProxyIsWatchedOnceItsKindIsThere(t *testing.T) {
	k := newCluster(t, newCSV("op.v1"), newCSV("op.v2"))
	started := 0
	k.c.proxy.start = func() { started++ }
	k.c.triggers().usingCRD(t.Context(), newCRD("others.example.com", "v1"))
	must.Equal(t, "it is watched although its kind is not there", started, 0)
	for range 2 {
		must.Equal(t, "the kind wakes up", names(k.c.triggers().usingCRD(t.Context(), newCRD(proxyCRD, "v1"))), "operators/op.v1 operators/op.v2")
	}
	must.Equal(t, "starts of the watch", started, 1)
	must.Equal(t, "the proxy wakes up", names(k.c.triggers().everyone(t.Context(), &unstructured.Unstructured{})), "operators/op.v1 operators/op.v2")
}
