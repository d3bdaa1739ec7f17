package registryv1

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

// FuzzConfig renders a bundle with any configuration: it is taken, always in the same way, or refused with a message that is not long.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"watchNamespace": "x"}`, `{"watchNamespaces": ["x", "ns"]}`, `{"watchNamespace": null, "watchNamespaces": null}`,
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
		if len(out.WatchNamespaces) == 0 || len(config) > 0 && !json.Valid(config) {
			t.Errorf("watches %q with %q", out.WatchNamespaces, config)
		}
	})
}
