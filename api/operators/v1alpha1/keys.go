package v1alpha1

// Labels. Those that end in a slash or a dot are prefixes.
const (
	// ManagedLabel is "true" on every object that the manager made or adopted.
	ManagedLabel = "olm.managed"
	// ManagedLabelValue is the value of ManagedLabel.
	ManagedLabelValue = "true"
	// OwnerLabel is the name of the owner of an object that has no owner reference, or that is looked up by owner.
	OwnerLabel = "olm.owner"
	// OwnerNamespaceLabel is the namespace of that owner.
	OwnerNamespaceLabel = "olm.owner.namespace"
	// OwnerKindLabel is the kind of that owner.
	OwnerKindLabel = "olm.owner.kind"
	// CopiedFromLabel is the namespace of the ClusterServiceVersion, or of the RBAC object, that this is a copy of.
	CopiedFromLabel = "olm.copiedFrom"

	// DeploymentSpecHashLabel is the hash of the spec that a Deployment was applied with.
	DeploymentSpecHashLabel = "olm.deployment-spec-hash"
	// PermissionsHashLabel is the hash of the rules or of the subject of an RBAC object.
	PermissionsHashLabel = "olm.permissions.hash"
	// WebhookGenerateNameLabel is the generateName of the webhook description that a configuration is made from.
	WebhookGenerateNameLabel = "olm.webhook-description-generate-name"
	// WebhookHashLabel is the hash of the webhook description that a configuration is made from.
	WebhookHashLabel = "olm.webhook-description-hash"

	// CatalogSourceLabel is the CatalogSource that a pod or Service serves.
	CatalogSourceLabel = "olm.catalogSource"
	// CatalogSourceUpdateLabel is the CatalogSource that a pod is to serve next.
	CatalogSourceUpdateLabel = "catalogsource.operators.coreos.com/update"
	// PodSpecHashLabel is the hash of the spec of a catalog pod.
	PodSpecHashLabel = "olm.pod-spec-hash"
	// ServiceSpecHashLabel is the hash of the spec of a catalog Service.
	ServiceSpecHashLabel = "olm.service-spec-hash"
	// ConfigMapResourceVersionLabel is the resource version of the ConfigMap that a catalog pod serves.
	ConfigMapResourceVersionLabel = "olm.configMapResourceVersion"
	// BundleUnpackRefLabel is the hash of the bundle that a ConfigMap or Job unpacks.
	BundleUnpackRefLabel = "operatorframework.io/bundle-unpack-ref"

	// ComponentLabelPrefix, with <package>.<namespace> after it, is on every component of an operator.
	ComponentLabelPrefix = "operators.coreos.com/"
	// OperatorGroupUIDLabelPrefix, with the UID of an OperatorGroup after it, is on its target namespaces.
	OperatorGroupUIDLabelPrefix = "olm.operatorgroup.uid/"
	// APILabelPrefix, with the hash of an API after it, is on ClusterServiceVersions and OperatorGroups.
	APILabelPrefix = "olm.api."
	// APILabelProvided and APILabelRequired are the values of a label with APILabelPrefix.
	APILabelProvided = "provided"
	APILabelRequired = "required"
	// OperatorGroupAggregationLabelPrefix, with <hash>-<suffix> or a suffix after it, is on the ClusterRoles of an API.
	OperatorGroupAggregationLabelPrefix = "olm.opgroup.permissions/aggregate-to-"
	// RBACAggregationLabelPrefix, with a suffix after it, aggregates into the cluster's own admin, edit and view roles.
	RBACAggregationLabelPrefix = "rbac.authorization.k8s.io/aggregate-to-"
	// ManagerAggregationLabel is "true" on the ClusterRoles that give the manager, and no user, access to the custom resources of a CRD. Where the
	// manager has no rule for every resource, its own ClusterRole gathers them.
	ManagerAggregationLabel = "operators.fairlead.dev/aggregate-to-manager"

	// ProvidedRolesLabel, on a CustomResourceDefinition or an APIService, is an administrator's decision on the ClusterRoles that open its API to
	// the users of the cluster: "true" allows them for any operator that owns it, "false" forbids them.
	ProvidedRolesLabel = "operators.fairlead.dev/provided-roles"

	// PodSecurityEnforceLabel, on a namespace, is the Pod Security Standard that its pods have to meet.
	PodSecurityEnforceLabel = "pod-security.kubernetes.io/enforce"
	// JobNameLabel is the Job that a pod belongs to.
	JobNameLabel = "job-name"

	// ClusterOperatorNameLabel names the ClusterOperator that a ClusterServiceVersion reports to.
	ClusterOperatorNameLabel = "olm.clusteroperator.name"
	// VersionLabel is the version of the manager that a ClusterServiceVersion comes with.
	VersionLabel = "olm.version"

	// PackageCatalogLabel and the ones below are on PackageManifests.
	PackageCatalogLabel          = "catalog"
	PackageCatalogNamespaceLabel = "catalog-namespace"
	PackageProviderLabel         = "provider"
	PackageProviderURLLabel      = "provider-url"
	// OSLabelPrefix and ArchLabelPrefix, with a system after them, have the value "supported".
	OSLabelPrefix        = "operatorframework.io/os."
	ArchLabelPrefix      = "operatorframework.io/arch."
	SystemSupportedValue = "supported"
)

// Annotations. Those that end in a hyphen or a dot are prefixes.
const (
	// OperatorGroupAnnotation is the OperatorGroup of a ClusterServiceVersion.
	OperatorGroupAnnotation = "olm.operatorGroup"
	// OperatorNamespaceAnnotation is the namespace that the operator runs in.
	OperatorNamespaceAnnotation = "olm.operatorNamespace"
	// TargetNamespacesAnnotation is the sorted target namespaces, joined by commas; empty stands for all.
	TargetNamespacesAnnotation = "olm.targetNamespaces"
	// ProvidedAPIsAnnotation is the sorted APIs of an OperatorGroup, joined by commas.
	ProvidedAPIsAnnotation = "olm.providedAPIs"
	// SkipRangeAnnotation is the range of versions that may upgrade to the ClusterServiceVersion directly.
	SkipRangeAnnotation = "olm.skipRange"
	// SubstitutesForAnnotation is the ClusterServiceVersion that this one is a rebuild of.
	SubstitutesForAnnotation = "olm.substitutesFor"
	// PropertiesAnnotation is the properties of the bundle that a ClusterServiceVersion comes from, as JSON.
	PropertiesAnnotation = "operatorframework.io/properties"
	// CAHashAnnotation is the hash of the authority of a serving certificate, on its Secret and on the pods.
	CAHashAnnotation = "olmcahash"
	// InstalledAlongsideAnnotationPrefix, with a hash after it, names a ClusterServiceVersion that brought a CRD.
	InstalledAlongsideAnnotationPrefix = "operatorframework.io/installed-alongside-"
	// BroughtByAnnotationPrefix, with the hash of a ClusterServiceVersion after it, is on a CRD the UID of the InstallPlan that brought it last
	// for that one.
	BroughtByAnnotationPrefix = "operators.fairlead.dev/brought-by-"
	// OriginAnnotation is OriginInstallPlan, a slash and a namespace on a CRD that an InstallPlan of that namespace created. One that was there
	// before does not have it, whichever plans have written it since.
	OriginAnnotation = "operators.fairlead.dev/origin"
	// OriginInstallPlan begins the value of OriginAnnotation.
	OriginInstallPlan = "InstallPlan"
	// ProvidersAnnotation, on a ClusterRole of an API, lists the ClusterServiceVersions that it was made for, with their UIDs.
	ProvidersAnnotation = "operators.fairlead.dev/providers"
	// AdoptableByAnnotation on a CRD names the namespaces, separated by commas, whose operators may adopt the CRD although no InstallPlan brought it;
	// "*" is every namespace. Only users who may write CRDs can set it.
	AdoptableByAnnotation = "operators.fairlead.dev/adoptable-by"
	// GeneratedByAnnotation is the InstallPlan that made a Subscription.
	GeneratedByAnnotation = "olm.generated-by"

	// ExcludeGlobalNamespaceAnnotation, on an OperatorGroup, leaves global catalogs out of resolution.
	ExcludeGlobalNamespaceAnnotation = "olm.operatorframework.io/exclude-global-namespace-resolution"
	// BundleUnpackTimeoutAnnotation, on an OperatorGroup, is how long fetching a bundle may take.
	BundleUnpackTimeoutAnnotation = "operatorframework.io/bundle-unpack-timeout"
	// BundleUnpackMinRetryIntervalAnnotation, on an OperatorGroup, is how long to wait before a bundle is fetched again.
	BundleUnpackMinRetryIntervalAnnotation = "operatorframework.io/bundle-unpack-min-retry-interval"

	// PromoteRolesAnnotation "true", on an OperatorGroup of all namespaces, makes Roles with the owner labels of an operator cluster-wide that its
	// ClusterServiceVersion does not ask for.
	PromoteRolesAnnotation = "operators.fairlead.dev/promote-labelled-roles"

	// RetryAnnotation, on an InstallPlan that failed, says what has changed of what it failed on: another plan for the same has better
	// prospects now.
	RetryAnnotation = "operators.fairlead.dev/retry"

	// CatalogImageTemplateAnnotation, on a CatalogSource, is the image with placeholders for the cluster's version.
	CatalogImageTemplateAnnotation = "olm.catalogImageTemplate"
	// PriorityClassAnnotation, on a CatalogSource, is the priority class of its pod.
	PriorityClassAnnotation = "operatorframework.io/priorityclass"
	// SafeToEvictAnnotation lets the cluster autoscaler move a catalog pod.
	SafeToEvictAnnotation = "cluster-autoscaler.kubernetes.io/safe-to-evict"

	// SourceImageAnnotation and ContentEncodingAnnotation are on ConfigMaps with the content of a bundle.
	SourceImageAnnotation     = "olm.sourceImage"
	ContentEncodingAnnotation = "olm.contentEncoding"
	// BundleAnnotationPrefix begins the annotations of a bundle's metadata, which such ConfigMaps carry as well.
	BundleAnnotationPrefix = "operators.operatorframework.io.bundle."
)

// CSVCleanupFinalizer keeps a ClusterServiceVersion until the cluster scoped objects that it owns are gone.
const CSVCleanupFinalizer = "operators.coreos.com/csv-cleanup"

// Names of field managers of server-side apply.
const (
	FieldManagerInstall        = "olm.install"
	FieldManagerRegistry       = "olm.registry"
	FieldManagerOwnership      = "olm-ownership-labeller"
	FieldManagerServiceAccount = "operator-lifecycle-manager"
)
