package packageserver

import (
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// The names of the resource.
const (
	resource     = "packagemanifests"
	singular     = "packagemanifest"
	iconResource = resource + "/icon"
)

var (
	scheme         = newScheme()
	codecs         = serializer.NewCodecFactory(scheme, serializer.WithStreamingCollectionEncodingToJSON())
	jsonIdentifier = identifyJSON()
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(packagesv1.AddToScheme(s))
	utilruntime.Must(s.SetVersionPriority(packagesv1.GroupVersion))
	utilruntime.Must(s.AddFieldLabelConversionFunc(packagesv1.GroupVersion.WithKind(packagesv1.PackageManifestKind), fieldLabel))
	// What all API servers share: options of requests, statuses and discovery.
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(s, unversioned)
	s.AddUnversionedTypes(unversioned, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	return s
}

// identifyJSON is how the API machinery calls the form in which it answers when nothing special is asked for.
func identifyJSON() runtime.Identifier {
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		return ""
	}
	return codecs.EncoderForVersion(info.Serializer, packagesv1.GroupVersion).Identifier()
}

// apiGroup is what the server serves.
func apiGroup(s *storage) *genericapiserver.APIGroupInfo {
	group := genericapiserver.NewDefaultAPIGroupInfo(packagesv1.GroupName, scheme, metav1.ParameterCodec, codecs)
	group.VersionedResourcesStorageMap[packagesv1.GroupVersion.Version] = map[string]rest.Storage{resource: s, iconResource: &iconStorage{s}}
	return &group
}
