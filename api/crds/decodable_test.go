package crds_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// bases are valid objects of the kinds whose rules refuse an object with nothing but the required fields.
var bases = map[string]string{
	"ClusterExtension": `{spec: {namespace: a, source: {sourceType: Catalog, catalog: {packageName: a}}}}`,
	"ClusterCatalog":   `{spec: {source: {type: Image, image: {ref: quay.io/a/b:v1}}}}`,
	"ClusterObjectSet": `{spec: {revision: 1, lifecycleState: Active, collisionProtection: Prevent}}`,
}

// TestWhatIsStoredCanBeDecoded guards clients: one stored object that does not decode keeps them from listing all
// objects of its kind.
func TestWhatIsStoredCanBeDecoded(t *testing.T) {
	known := must.Value(admissions())(t)
	scheme := newScheme(t)
	for gvk, a := range known {
		t.Run(gvk.String(), func(t *testing.T) {
			base := map[string]any{}
			must.NoError(t, yaml.Unmarshal([]byte(bases[gvk.Kind]), &base))
			tried, admitted := 0, 0
			for variant := range variants(a.structural) {
				obj := overlay(overlay(variant.(map[string]any), base), overlay(base, variant.(map[string]any)))
				obj["apiVersion"], obj["kind"], obj["metadata"] = gvk.GroupVersion().String(), gvk.Kind, map[string]any{"name": "a"}
				tried++
				stored, _, errs := admit(t, normal(t, obj))
				if len(errs) > 0 {
					continue
				}
				admitted++
				typed := must.Value(scheme.New(gvk))(t)
				data := must.Value(json.Marshal(stored))(t)
				if err := json.Unmarshal(data, typed); err != nil {
					t.Errorf("was admitted but does not decode: %v\n%s", err, data)
				}
			}
			if admitted < 10 {
				t.Errorf("%d of %d objects were admitted: too few to show anything", admitted, tried)
			}
		})
	}
}

// TestHostileObjectsAreRefused pins the cases that the generated schemas would let through as they come.
func TestHostileObjectsAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		object string
		path   string
	}{
		"fraction as exponent": {
			`{apiVersion: operators.coreos.com/v1alpha1, kind: CatalogSource, metadata: {name: a}, spec: {sourceType: grpc, grpcPodConfig: {memoryTarget: "1e1.5"}}}`,
			"spec.grpcPodConfig.memoryTarget",
		},
		"port beyond 32 bits": {
			`{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: a}, spec: {displayName: a, install: {strategy: deployment}, webhookdefinitions: [{generateName: a, type: ConversionWebhook, sideEffects: None, admissionReviewVersions: [v1], targetPort: 99999999999}]}}`,
			"spec.webhookdefinitions[0].targetPort",
		},
		"lower case time": {
			`{apiVersion: operators.coreos.com/v2, kind: OperatorCondition, metadata: {name: a}, spec: {overrides: [{type: A, status: "True", reason: R, message: m, lastTransitionTime: "2020-01-01t00:00:00z"}]}}`,
			"spec.overrides[0].lastTransitionTime",
		},
		"endless duration": {
			`{apiVersion: operators.coreos.com/v1, kind: OLMConfig, metadata: {name: cluster}, spec: {features: {packageServerSyncInterval: 99999999999999h}}}`,
			"spec.features.packageServerSyncInterval",
		},
		"no version": {
			`{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: a}, spec: {displayName: a, install: {strategy: deployment}, version: latest}}`,
			"spec.version",
		},
		"ephemeral container": {
			`{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: a}, spec: {displayName: a, install: {strategy: deployment, spec: {deployments: [{name: a, spec: {selector: {}, template: {spec: {containers: [], ephemeralContainers: [{name: a}]}}}}]}}}}`,
			"spec.install.spec.deployments[0].spec.template.spec.ephemeralContainers",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, errs := admit(t, parse(t, tc.object))
			if !hasPath(errs, tc.path) {
				t.Errorf("want an error at %s, got %v", tc.path, errs)
			}
		})
	}
}

func hasPath(errs field.ErrorList, path string) bool {
	for _, err := range errs {
		if err.Field == path {
			return true
		}
	}
	return false
}

// parse reads an object from YAML.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	must.NoErrorf(t, err, "parse %s", text)
	var obj map[string]any
	decode(t, data, &obj)
	return obj
}
