package registryv1

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// FuzzConfig renders a bundle with any configuration: it is taken, always in the same way, or refused with a message that is not long.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` `, `null`, `{"watchNamespace": "x"}`, `{"watchNamespaces": ["x", "ns"]}`, `{"watchNamespace": null, "watchNamespaces": null}`,
		`{"deploymentConfig": {"env": [{"name": "A", "value": "b"}], "affinity": {"nodeAffinity": {}}, "resources": {"limits": {"cpu": "1e3", "memory": 5}}}}`,
		`{"deploymentConfig": {"volumes": [{"name": "webhook-cert", "emptyDir": {}}], "volumeMounts": [{"name": "v", "mountPath": "/tmp/k8s-webhook-server/serving-certs"}]}}`,
		`{"deploymentConfig": {"annotations": {"olm.targetNamespaces": "x"}, "nodeSelector": {}, "tolerations": [{"tolerationSeconds": 9223372036854775807}]}}`,
	} {
		f.Add([]byte(seed), uint8(15))
	}
	f.Fuzz(func(t *testing.T, config []byte, mask uint8) {
		var supported modes
		for i, mode := range (modes{modeAll, modeOwn, modeSingle, modeMulti}) {
			if mask&(1<<i) != 0 {
				supported = append(supported, mode)
			}
		}
		if len(supported) == 0 {
			return
		}
		b := loadTest(t, supporting(supported...))
		if mask&16 != 0 {
			b.CSV.Spec.WebhookDefinitions = append(b.CSV.Spec.WebhookDefinitions, hook(validating, "v.example.com"))
		}
		o := Options{Namespace: "ns", Config: config}
		out, err := Render(b, o)
		again, errAgain := Render(b, o)
		if !reflect.DeepEqual(out, again) || (err == nil) != (errAgain == nil) {
			t.Fatalf("two results: %v, %v", err, errAgain)
		}
		if err != nil {
			var bad *ConfigError
			if !errors.As(err, &bad) || len(err.Error()) > 30_000 {
				t.Fatalf("error %.1000v", err)
			}
			return
		}
		if len(out.WatchNamespaces) == 0 || len(bytes.TrimSpace(config)) > 0 && !json.Valid(config) {
			t.Errorf("watches %q with %q", out.WatchNamespaces, config)
		}
	})
}

// FuzzBundle renders whatever loads: nothing panics, the bundle stays as it is, and the result is always the same.
func FuzzBundle(f *testing.F) {
	f.Add([]byte(csvYAML), []byte(crdYAML))
	f.Add([]byte(csvYAML+"  webhookdefinitions:\n  - {type: ConversionWebhook, generateName: c.example.com-, deploymentName: op.manager, conversionCRDs: [widgets.example.com], sideEffects: None, admissionReviewVersions: [v1]}\n"), []byte(crdYAML))
	f.Add([]byte(csvYAML+"  apiservicedefinitions: {owned: [{name: a, group: b.c, version: v1, kind: A, deploymentName: op.manager}]}\n"), []byte("{apiVersion: v1, kind: Service, metadata: {name: op-manager-service}, spec: {ports: [{port: 1}]}}"))
	f.Fuzz(func(t *testing.T, csv, other []byte) {
		if len(csv)+len(other) > 1<<16 {
			return
		}
		b, err := bundle.Load(fstest.MapFS{
			"metadata/annotations.yaml": {Data: []byte(annotationsYAML)}, "manifests/csv.yaml": {Data: csv}, "manifests/other.yaml": {Data: other},
		})
		if err != nil {
			return
		}
		before := asJSON(t, b.AllObjects()) + asJSON(t, b.CSV)
		for _, certificates := range []CertificateProvider{BuiltIn, CertManager, ServiceCA} {
			o := Options{Namespace: "ns", Certificates: certificates, OperatorCondition: "c", CA: func(string) []byte { return []byte("authority") }}
			out, err := Render(b, o)
			again, errAgain := Render(b, o)
			if !reflect.DeepEqual(out, again) || (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
				t.Fatalf("two results: %v, %v", err, errAgain)
			}
		}
		must.Equal(t, "rendering changed the bundle", asJSON(t, b.AllObjects())+asJSON(t, b.CSV), before)
	})
}
