package validate

import "fairlead.dev/fairlead/bundle"

// Type is the class of a rule, under the names that tools for bundles use.
type Type string

// The types.
const (
	CSVFileNotValid           Type = "CSVFileNotValid"
	FieldNotFound             Type = "FieldNotFound"
	FieldTypeNotSupported     Type = "FieldTypeNotSupported"
	ParseError                Type = "ParseError"
	FileReadError             Type = "FileReadError"
	ValidationFailed          Type = "ValidationFailed"
	OperationFailed           Type = "OperationFailed"
	ManifestStructureNotValid Type = "ManifestStructureNotValid"
	BundleNotValid            Type = "BundleNotValid"
	ObjectFailedValidation    Type = "ObjectFailedValidation"
	PropertiesAnnotationUsed  Type = "PropertiesAnnotationUsed"
	DeprecatedValidator       Type = "DeprecatedValidator"
	defaultType                    = ValidationFailed
	RuleMore                       = bundle.Rule("more-findings")
)

// Rules of the format of a bundle.
const (
	RuleMetadataDir     bundle.Rule = "metadata-directory"
	RuleManifestsDir    bundle.Rule = "manifests-directory"
	RuleAnnotations     bundle.Rule = "annotations-missing"
	RuleAnnotation      bundle.Rule = "annotation-missing"
	RuleAnnotationValue bundle.Rule = "annotation-value"
	RuleDefaultChannel  bundle.Rule = "default-channel-unknown" // a warning
	RuleMediaType       bundle.Rule = "media-type"              // a warning for types that are known
	RuleUnreadable      bundle.Rule = "file-unreadable"
	RuleNotObject       bundle.Rule = "file-not-object"
	RuleNotice          bundle.Rule = "file-passed-over" // a warning
	RuleIgnored         bundle.Rule = "manifests-entry"
	RuleKind            bundle.Rule = "kind-unsupported"
	RuleNoCSV           bundle.Rule = "csv-missing"
	RuleSecondCSV       bundle.Rule = "csv-duplicate"
	RuleCSVForm         bundle.Rule = "csv-form"
	RuleDependency      bundle.Rule = "dependency"
	RuleProperty        bundle.Rule = "property"
	RuleWrapped         bundle.Rule = "entry-wrapped" // a warning
	RuleNeed            bundle.Rule = "need-doubtful" // a warning
)

// Rules of the ClusterServiceVersion.
const (
	RuleCSVAnnotations  bundle.Rule = "csv-annotations-missing" // a warning
	RuleExamples        bundle.Rule = "csv-examples-missing"    // a warning
	RuleExamplesTwice   bundle.Rule = "csv-examples-twice"      // a warning
	RuleExamplesForm    bundle.Rule = "csv-examples-form"
	RuleExampleAPI      bundle.Rule = "csv-example-api"
	RuleExampleMissing  bundle.Rule = "csv-example-missing"          // a warning
	RuleNoMinKube       bundle.Rule = "csv-min-kube-version-missing" // a warning
	RuleRequiredField   bundle.Rule = "csv-required-field"
	RuleAnnotationCase  bundle.Rule = "annotation-case"
	RulePropertiesInCSV bundle.Rule = "csv-properties-annotation" // a warning
	RuleModeUnknown     bundle.Rule = "csv-install-mode-unknown"  // a warning
)

// Rules of CustomResourceDefinitions.
const (
	RuleCRDForm       bundle.Rule = "crd-form"
	RuleCRDAPIVersion bundle.Rule = "crd-api-version-unsupported"
	RuleCRDGroup      bundle.Rule = "crd-group"
	RuleCRDApproval   bundle.Rule = "crd-approval"
	RuleCRDScope      bundle.Rule = "crd-scope"
	RuleCRDNames      bundle.Rule = "crd-names"
	RuleCRDVersions   bundle.Rule = "crd-versions"
	RuleCRDStorage    bundle.Rule = "crd-storage-version"
	RuleCRDColumn     bundle.Rule = "crd-printer-column"
	RuleCRDScale      bundle.Rule = "crd-scale"
	RuleCRDSelectable bundle.Rule = "crd-selectable-field"
	RuleCRDConversion bundle.Rule = "crd-conversion"
	RuleCRDPreserve   bundle.Rule = "crd-preserve-unknown-fields"
)

// Rules of the bundle as a whole.
const (
	RuleAPITwice       bundle.Rule = "api-duplicate"
	RuleServiceAccount bundle.Rule = "service-account"
	RuleSize           bundle.Rule = "bundle-size" // a warning below the limit
	RuleReleaseName    bundle.Rule = "release-name"
	RuleObjectMeta     bundle.Rule = "object-metadata" // a warning for the namespace of a ClusterServiceVersion
	RuleCatalog        bundle.Rule = "catalog-entry"   // a warning for the version of a ClusterServiceVersion, and for capitals
	RuleSubstitutes    bundle.Rule = "release-substitutes"
	RuleRelatedImage   bundle.Rule = "related-image"
)

// Rules of optional validators.
const (
	RuleBudget         bundle.Rule = "pod-disruption-budget"
	RuleBudgetUnready  bundle.Rule = "pod-disruption-budget-unready" // a warning
	RulePriorityClass  bundle.Rule = "priority-class"
	RuleRBACBudget     bundle.Rule = "rbac-pod-disruption-budget" // a warning
	RuleRBACSCC        bundle.Rule = "rbac-security-context-constraints"
	RuleProvider       bundle.Rule = "provider"
	RuleMaintainer     bundle.Rule = "maintainer"
	RuleLink           bundle.Rule = "link"
	RuleVersion        bundle.Rule = "version"
	RuleIcon           bundle.Rule = "icon" // a warning when there is none
	RuleCapabilities   bundle.Rule = "capabilities"
	RuleCategories     bundle.Rule = "categories"
	RuleDeprecated     bundle.Rule = "validator-deprecated" // a warning
	RuleDeployments    bundle.Rule = "deployments-missing"
	RuleRequests       bundle.Rule = "resource-requests"   // a warning
	RuleDescription    bundle.Rule = "crd-description"     // a warning
	RuleChannelName    bundle.Rule = "channel-name"        // a warning
	RuleRBACCRD        bundle.Rule = "rbac-crd"            // a warning
	RuleNameVersion    bundle.Rule = "csv-name-version"    // a warning
	RuleRemovedAPI     bundle.Rule = "removed-api"         // a warning below the Kubernetes version
	RuleMaxOpenShift   bundle.Rule = "max-openshift"       // a warning for too exact a version
	RuleIndexFile      bundle.Rule = "index-file"          // a warning when it is not given
	RuleInspect        bundle.Rule = "image-uninspectable" // a warning
	RulePlatform       bundle.Rule = "image-platform"      // a warning for platforms without label
	RuleAffinity       bundle.Rule = "node-affinity"       // a warning
	RuleV1APIService   bundle.Rule = "v1-apiservice"
	RuleV1InstallModes bundle.Rule = "v1-install-modes"
	RuleV1WebhookName  bundle.Rule = "v1-webhook-name"
)

// types are the types of the rules that are not ValidationFailed.
var types = map[bundle.Rule]Type{
	RuleMetadataDir: ManifestStructureNotValid, RuleManifestsDir: ManifestStructureNotValid, RuleIgnored: ManifestStructureNotValid,
	RuleAnnotations: ManifestStructureNotValid, RuleAnnotation: FieldNotFound, RuleAnnotationValue: ManifestStructureNotValid,
	RuleMediaType: FieldTypeNotSupported, RuleUnreadable: FileReadError, RuleNotObject: ParseError, RuleNotice: FileReadError,
	RuleKind: FieldTypeNotSupported, RuleNoCSV: ManifestStructureNotValid, RuleSecondCSV: ManifestStructureNotValid,
	RuleCSVForm: ParseError, RuleDependency: ParseError, RuleProperty: ParseError, RuleWrapped: ParseError,

	RuleCSVAnnotations: CSVFileNotValid, RuleExamples: CSVFileNotValid, RuleExamplesTwice: CSVFileNotValid, RuleExamplesForm: ParseError,
	RuleExampleAPI: OperationFailed, RuleExampleMissing: OperationFailed, RuleNoMinKube: CSVFileNotValid, RuleRequiredField: FieldNotFound,
	RuleAnnotationCase: CSVFileNotValid, RulePropertiesInCSV: PropertiesAnnotationUsed,
	bundle.RuleCSVName: CSVFileNotValid, bundle.RuleReplaces: CSVFileNotValid, bundle.RuleMinKubeVersion: CSVFileNotValid,
	bundle.RuleInstallModes: CSVFileNotValid, bundle.RuleConversion: CSVFileNotValid, bundle.RuleRequiredCRD: ParseError,

	RuleCRDForm: ParseError, RuleCRDAPIVersion: FieldTypeNotSupported,
	bundle.RuleOwnedCRD: BundleNotValid, bundle.RuleCRDNotOwned: BundleNotValid, RuleAPITwice: BundleNotValid, RuleServiceAccount: BundleNotValid,
	RuleSize: BundleNotValid, RuleReleaseName: BundleNotValid, RuleSubstitutes: BundleNotValid, RuleRelatedImage: BundleNotValid,
	bundle.RuleObjectTwice: BundleNotValid,

	RuleBudget: ObjectFailedValidation, RuleBudgetUnready: ObjectFailedValidation, RulePriorityClass: ObjectFailedValidation, RuleRBACBudget: ObjectFailedValidation, RuleRBACSCC: ObjectFailedValidation,
	bundle.RuleObjectName: ObjectFailedValidation, RuleObjectMeta: ObjectFailedValidation, RuleCatalog: BundleNotValid, RuleModeUnknown: CSVFileNotValid,
	RuleProvider: CSVFileNotValid, RuleMaintainer: CSVFileNotValid, RuleLink: CSVFileNotValid, RuleVersion: CSVFileNotValid, RuleIcon: CSVFileNotValid,
	RuleCapabilities: CSVFileNotValid, RuleCategories: CSVFileNotValid, RuleDeprecated: DeprecatedValidator,
}
