package catalog

// Rule is the stable name of a rule. What breaks the rules below is kept out
// of an Index as far as the comment of the group says, and no further.
type Rule string

// Rules of files and documents, found by Load. What breaks them is not part of
// the Catalog.
const (
	RuleFileUnreadable Rule = "file-unreadable"
	RuleFileNotCatalog Rule = "file-not-catalog" // a warning: passed over
	RuleIgnorePattern  Rule = "ignore-pattern"   // a warning: passed over
	RuleLimit          Rule = "limit"
	RuleSyntax         Rule = "syntax"
	RuleNotAnObject    Rule = "not-an-object"
	RuleSchemaMissing  Rule = "schema-missing"
	RuleSchemaUnknown  Rule = "schema-unknown" // a warning: kept as it is
	RuleDuplicateKey   Rule = "duplicate-key"  // a warning if the keys are written in the same way
	RuleFieldType      Rule = "field-type"
	RuleFieldUnknown   Rule = "field-unknown"   // a warning: passed over
	RuleObjectPackage  Rule = "object-package"  // a warning: kept as it is
	RuleObjectProperty Rule = "object-property" // a warning: kept as it is
	RuleMoreProblems   Rule = "more-problems"   // counts those that are not listed
)

// Rules of packages. Those marked "whole package" keep the package out.
const (
	RulePackageName             Rule = "package-name"      // whole package
	RulePackageCapitals         Rule = "package-capitals"  // a warning: served
	RulePackageDuplicate        Rule = "package-duplicate" // whole package
	RulePackageEmpty            Rule = "package-empty"     // whole package
	RulePackageDefaultChannel   Rule = "package-default-channel"
	RulePackageDuplicateVersion Rule = "package-duplicate-version"
	RulePackageIcon             Rule = "package-icon" // a warning: nothing is kept out
)

// Rules of channels. Those marked "whole channel" keep the channel out.
const (
	RuleChannelPackage     Rule = "channel-package"      // whole channel
	RuleChannelName        Rule = "channel-name"         // whole channel
	RuleChannelDuplicate   Rule = "channel-duplicate"    // whole channel
	RuleChannelEmpty       Rule = "channel-empty"        // whole channel
	RuleChannelHead        Rule = "channel-head"         // whole channel
	RuleChannelCycle       Rule = "channel-cycle"        // whole channel
	RuleChannelStranded    Rule = "channel-stranded"     // whole channel
	RuleEntryName          Rule = "entry-name"           // whole channel
	RuleEntryDuplicate     Rule = "entry-duplicate"      // whole channel
	RuleEntryWithoutBundle Rule = "entry-without-bundle" // the entry
	RuleEntrySkipEmpty     Rule = "entry-skip-empty"     // the empty skip
	RuleEntrySkipRange     Rule = "entry-skip-range"     // the skipRange
)

// Rules of bundles. Except where noted, the bundle is kept out, and with it
// its entries in channels.
const (
	RuleBundleName            Rule = "bundle-name"
	RuleBundlePackage         Rule = "bundle-package"
	RuleBundleDuplicate       Rule = "bundle-duplicate"
	RuleBundleUnlisted        Rule = "bundle-unlisted"
	RuleBundleProperty        Rule = "bundle-property"
	RuleBundlePackageProperty Rule = "bundle-package-property"
	RuleBundleVersion         Rule = "bundle-version"
	RuleBundleRelease         Rule = "bundle-release"
	RuleBundleImage           Rule = "bundle-image"
	RuleBundleObject          Rule = "bundle-object"
	RuleBundleCSVMetadata     Rule = "bundle-csv-metadata"
	RuleBundleRequiredRange   Rule = "bundle-required-range"
	RuleBundlePropertyEmpty   Rule = "bundle-property-empty"  // a warning: nothing is kept out
	RuleBundleGVK             Rule = "bundle-gvk"             // a warning: nothing is kept out
	RuleBundleConstraintSize  Rule = "bundle-constraint-size" // a warning: nothing is kept out
	RuleRelatedImage          Rule = "related-image"          // a warning: nothing is kept out
)

// Rules of deprecations. The entry is kept out, or all of them if they belong
// to no package.
const (
	RuleDeprecationPackage   Rule = "deprecation-package"
	RuleDeprecationDuplicate Rule = "deprecation-duplicate"
	RuleDeprecationReference Rule = "deprecation-reference"
	RuleDeprecationMessage   Rule = "deprecation-message"
	RuleDeprecationName      Rule = "deprecation-name" // a warning: the name is passed over
)

// RuleLifecycle is the rule of objects that say how long a package is supported: such an object is kept, and says nothing.
const RuleLifecycle Rule = "lifecycle" // a warning
