package manager

import (
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/controller/installplan"

	"github.com/spf13/pflag"
)

// addPlans adds the flags about InstallPlans and their bundles.
func addPlans(flags *pflag.FlagSet, o *Options) {
	flags.DurationVar(&o.BundleUnpackTimeout, "bundle-unpack-timeout", bundleio.DefaultTimeout,
		"how long one attempt to fetch a bundle may take, 0 for no limit; annotation operatorframework.io/bundle-unpack-timeout of an OperatorGroup goes before it")
	flags.DurationVar(&o.InstallPlanRetryTimeout, "install-plan-retry-timeout", installplan.DefaultRetryTimeout, "how long an InstallPlan is tried again after errors before it is Failed")
}
