package command

import (
	"fairlead.dev/fairlead/internal/controller/catalogsource"

	"github.com/spf13/pflag"
)

// Images that pods of catalogs use besides those of the catalogs.
const (
	defaultOpmImage  = "quay.io/operator-framework/opm:latest"
	defaultUtilImage = "quay.io/operator-framework/olm:latest"
)

// addCatalogPods adds the flags about catalogs that are served by pods.
func addCatalogPods(flags *pflag.FlagSet, o *catalogsource.PodOptions) {
	flags.BoolVar(&o.Always, "catalog-pods", false, "run the images of catalogs as pods, also those that the manager can serve itself")
	flags.StringVar(&o.Settings.OpmImage, "opm-image", defaultOpmImage, "image that serves catalogs which are taken out of their images, in pods")
	flags.StringVar(&o.Settings.UtilImage, "util-image", defaultUtilImage, "image with the program that takes catalogs out of their images, in pods")
	flags.Int64Var(&o.Settings.RunAsUser, "catalog-pod-user", 0, "user ID of restricted catalog pods (default: that of the image)")
}
