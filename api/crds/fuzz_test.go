package crds_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/blang/semver/v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/api/operators/v1alpha2"
	operatorsv2 "fairlead.dev/fairlead/api/operators/v2"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/test/must"
)

// newScheme knows all kinds.
func newScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1alpha1.AddToScheme, v1alpha2.AddToScheme, operatorsv1.AddToScheme, operatorsv2.AddToScheme,
		packagesv1.AddToScheme, olmv1.AddToScheme,
	} {
		must.NoError(t, add(scheme))
	}
	return scheme
}

// newFiller fills objects with random content that JSON can carry.
func newFiller(scheme *runtime.Scheme, seed int64) *randfill.Filler {
	funcs := fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, func(serializer.CodecFactory) []any {
		return append(wrapperFuncs(), kubernetesFuncs()...)
	})
	return fuzzer.FuzzerFor(funcs, rand.NewSource(seed), serializer.NewCodecFactory(scheme))
}

// wrapperFuncs fill the types of this project that have a text form.
func wrapperFuncs() []any {
	return []any{
		func(v *v1alpha1.OperatorVersion, c randfill.Continue) {
			v.Version = semver.Version{Major: c.Uint64(), Minor: uint64(c.Intn(3)), Patch: uint64(c.Intn(30))}
			if c.Bool() {
				v.Pre = []semver.PRVersion{{VersionStr: "rc"}, {VersionNum: uint64(c.Intn(9)), IsNum: true}}
			}
			if c.Bool() {
				v.Build = []string{fmt.Sprintf("%x", c.Uint64())}
			}
		},
		func(r *v1alpha1.OperatorRelease, c randfill.Continue) {
			r.Release = nil
			for range c.Intn(3) {
				r.Release = append(r.Release, semver.PRVersion{VersionNum: uint64(c.Intn(1000)), IsNum: true})
			}
		},
		func(p *v1alpha1.RegistryPoll, c randfill.Continue) {
			*p = v1alpha1.RegistryPoll{}
			if c.Bool() {
				p.Interval = &metav1.Duration{Duration: time.Duration(c.Uint32()) * time.Second}
				p.RawInterval = p.Interval.Duration.String()
			}
		},
	}
}

// kubernetesFuncs fill the types of Kubernetes that JSON does not carry as they are.
func kubernetesFuncs() []any {
	return []any{
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = intstr.FromInt32(c.Int31())
			if c.Bool() {
				*v = intstr.FromString(c.String(8))
			}
		},
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(c.Int63n(1<<40), resource.DecimalSI)
			q.ToUnstructured() // keeps the text, as decoding does
		},
		func(raw *json.RawMessage, c randfill.Continue) {
			*raw = json.RawMessage(fmt.Sprintf(`{"n":%d}`, c.Int31()))
		},
		func(v *apiextensionsv1.JSON, c randfill.Continue) { v.Raw = fmt.Appendf(nil, `{"n":%d}`, c.Int31()) },
		func(u *unstructured.Unstructured, c randfill.Continue) {
			u.Object = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "n"}}
		},
		func(s *appsv1.DeploymentSpec, c randfill.Continue) {
			c.FillNoCustom(s)
			s.Template.ObjectMeta = metav1.ObjectMeta{Labels: s.Template.Labels, Annotations: s.Template.Annotations}
			s.Template.Spec.EphemeralContainers = nil
		},
		func(s *corev1.PersistentVolumeClaimTemplate, c randfill.Continue) {
			c.FillNoCustom(s)
			s.ObjectMeta = metav1.ObjectMeta{Labels: s.Labels}
		},
	}
}
