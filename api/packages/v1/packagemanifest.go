package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// PackageManifest is what one catalog offers of one package.
//
// +kubebuilder:object:root=true
type PackageManifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PackageManifestSpec   `json:"spec,omitempty"`
	Status PackageManifestStatus `json:"status,omitempty"`
}

// PackageManifestList is a list of PackageManifests.
//
// +kubebuilder:object:root=true
type PackageManifestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PackageManifest `json:"items"`
}

// PackageManifestSpec is empty.
type PackageManifestSpec struct{}

// PackageManifestStatus describes the package.
type PackageManifestStatus struct {
	// catalogSource is the name of the CatalogSource.
	CatalogSource string `json:"catalogSource"`
	// catalogSourceDisplayName is the name of the catalog for people.
	CatalogSourceDisplayName string `json:"catalogSourceDisplayName"`
	// catalogSourcePublisher publishes the catalog.
	CatalogSourcePublisher string `json:"catalogSourcePublisher"`
	// catalogSourceNamespace is the namespace of the CatalogSource.
	CatalogSourceNamespace string `json:"catalogSourceNamespace"`
	// provider publishes the operator.
	Provider v1alpha1.AppLink `json:"provider,omitempty"`
	// packageName is the name of the package.
	PackageName string `json:"packageName"`
	// deprecation says that the package is deprecated.
	Deprecation *Deprecation `json:"deprecation,omitempty"`
	// channels are the channels of the package.
	Channels []PackageChannel `json:"channels"`
	// defaultChannel is followed by those who name no channel.
	DefaultChannel string `json:"defaultChannel"`
	// lifecycle says how long versions of the package are supported. It is absent when the catalog says nothing.
	Lifecycle []VersionLifecycle `json:"lifecycle,omitempty"`
}

// VersionLifecycle is about the versions that begin with one to three numbers.
type VersionLifecycle struct {
	// version is the beginning of the versions, such as 4.18.
	Version string `json:"version"`
	// phases are the phases of support, by their beginning.
	Phases []LifecyclePhase `json:"phases"`
}

// LifecyclePhase is a phase of support.
type LifecyclePhase struct {
	// name of the phase.
	Name string `json:"name"`
	// starts is when it begins; it is open without.
	Starts *metav1.Time `json:"starts,omitempty"`
	// ends is when it is over, which is not part of it; it is open without.
	Ends *metav1.Time `json:"ends,omitempty"`
}

// Deprecation says why something is deprecated.
type Deprecation struct {
	Message string `json:"message"`
}

// PackageChannel is one channel of a package.
type PackageChannel struct {
	// name of the channel.
	Name string `json:"name"`
	// currentCSV is the name of the channel head.
	CurrentCSV string `json:"currentCSV"`
	// currentCSVDesc describes the channel head.
	CurrentCSVDesc CSVDescription `json:"currentCSVDesc,omitempty"`
	// deprecation says that the channel is deprecated.
	Deprecation *Deprecation `json:"deprecation,omitempty"`
	// entries are all bundles of the channel.
	Entries []ChannelEntry `json:"entries"`
}

// ChannelEntry is one bundle of a channel.
type ChannelEntry struct {
	// name of the bundle's ClusterServiceVersion.
	Name string `json:"name"`
	// version of the bundle.
	Version string `json:"version,omitempty"`
	// deprecation says that the bundle is deprecated.
	Deprecation *Deprecation `json:"deprecation,omitempty"`
}

// CSVDescription is the part of a ClusterServiceVersion that people and consoles read before installing it. Note
// that the JSON name nativeApis differs in case from the ClusterServiceVersion's nativeAPIs; clients rely on it.
type CSVDescription struct {
	DisplayName               string                             `json:"displayName,omitempty"`
	Icon                      []v1alpha1.Icon                    `json:"icon,omitempty"`
	Version                   v1alpha1.OperatorVersion           `json:"version,omitempty"`
	Provider                  v1alpha1.AppLink                   `json:"provider,omitempty"`
	Annotations               map[string]string                  `json:"annotations,omitempty"`
	Keywords                  []string                           `json:"keywords,omitempty"`
	Links                     []v1alpha1.AppLink                 `json:"links,omitempty"`
	Maintainers               []v1alpha1.Maintainer              `json:"maintainers,omitempty"`
	Maturity                  string                             `json:"maturity,omitempty"`
	LongDescription           string                             `json:"description,omitempty"`
	InstallModes              []v1alpha1.InstallMode             `json:"installModes,omitempty"`
	CustomResourceDefinitions v1alpha1.CustomResourceDefinitions `json:"customresourcedefinitions,omitempty"`
	APIServiceDefinitions     v1alpha1.APIServiceDefinitions     `json:"apiservicedefinitions,omitempty"`
	NativeAPIs                []metav1.GroupVersionKind          `json:"nativeApis,omitempty"`
	MinKubeVersion            string                             `json:"minKubeVersion,omitempty"`
	RelatedImages             []string                           `json:"relatedImages,omitempty"`
}
