package v1

import (
	"encoding/json"
	"testing"

	"github.com/blang/semver/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// wire is a whole package manifest as clients see it.
const wire = `{
  "apiVersion": "packages.operators.coreos.com/v1",
  "kind": "PackageManifest",
  "metadata": {"name": "p", "namespace": "n"},
  "spec": {},
  "status": {
    "catalogSource": "c",
    "catalogSourceDisplayName": "Catalog",
    "catalogSourcePublisher": "Publisher",
    "catalogSourceNamespace": "olm",
    "provider": {"name": "Provider", "url": "https://example.com"},
    "packageName": "p",
    "deprecation": {"message": "old"},
    "channels": [{
      "name": "stable",
      "currentCSV": "p.v1.2.0",
      "currentCSVDesc": {
        "displayName": "P",
        "version": "1.2.0",
        "provider": {},
        "customresourcedefinitions": {},
        "apiservicedefinitions": {},
        "installModes": [{"type": "AllNamespaces", "supported": true}],
        "nativeApis": [{"group": "g", "version": "v1", "kind": "K"}],
        "minKubeVersion": "1.30.0",
        "relatedImages": ["quay.io/p"]
      },
      "entries": [{"name": "p.v1.2.0", "version": "1.2.0"}, {"name": "p.v1.1.0", "deprecation": {"message": "old"}}]
    }],
    "defaultChannel": "stable"
  }
}`

func manifest() PackageManifest {
	return PackageManifest{
		TypeMeta:   metav1.TypeMeta{APIVersion: "packages.operators.coreos.com/v1", Kind: "PackageManifest"},
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n"},
		Status: PackageManifestStatus{
			CatalogSource: "c", CatalogSourceDisplayName: "Catalog", CatalogSourcePublisher: "Publisher", CatalogSourceNamespace: "olm",
			Provider:    v1alpha1.AppLink{Name: "Provider", URL: "https://example.com"},
			PackageName: "p",
			Deprecation: &Deprecation{Message: "old"},
			Channels: []PackageChannel{{
				Name: "stable", CurrentCSV: "p.v1.2.0",
				CurrentCSVDesc: CSVDescription{
					DisplayName:    "P",
					Version:        v1alpha1.OperatorVersion{Version: semver.MustParse("1.2.0")},
					InstallModes:   []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeAllNamespaces, Supported: true}},
					NativeAPIs:     []metav1.GroupVersionKind{{Group: "g", Version: "v1", Kind: "K"}},
					MinKubeVersion: "1.30.0",
					RelatedImages:  []string{"quay.io/p"},
				},
				Entries: []ChannelEntry{{Name: "p.v1.2.0", Version: "1.2.0"}, {Name: "p.v1.1.0", Deprecation: &Deprecation{Message: "old"}}},
			}},
			DefaultChannel: "stable",
		},
	}
}

func TestPackageManifestWireForm(t *testing.T) {
	data := must.Value(json.Marshal(manifest()))(t)
	var want, got any
	must.NoError(t, json.Unmarshal([]byte(wire), &want))
	must.NoError(t, json.Unmarshal(data, &got))
	must.Equal(t, "the wire form differs", got, want)
}

func TestPackageManifestDecodes(t *testing.T) {
	var got PackageManifest
	must.NoError(t, json.Unmarshal([]byte(wire), &got))
	must.Equal(t, "the decoded object differs", got, manifest())
}
