package manager

import (
	"fairlead.dev/fairlead/internal/controller/catalogsource"

	"github.com/spf13/cobra"
)

// Images that pods of catalogs use besides those of the catalogs, and the user that restricted ones run as when one is asked for.
const (
	defaultOpmImage  = "quay.io/operator-framework/opm:latest"
	defaultUtilImage = "quay.io/operator-framework/olm:latest"
	workloadUser     = 1001
)

// addCatalogPods adds the flags about catalogs that are served by pods.
func addCatalogPods(cmd *cobra.Command, o *catalogsource.PodOptions) {
	var setUser bool
	flags := cmd.Flags()
	flags.BoolVar(&o.Always, "catalog-pods", false, "run the images of catalogs as pods, also those that the manager can serve itself")
	flags.StringVar(&o.Settings.OpmImage, "opmImage", defaultOpmImage, "image that serves catalogs which are taken out of their images, in pods")
	flags.StringVar(&o.Settings.UtilImage, "util-image", defaultUtilImage, "image with the program that takes catalogs out of their images, in pods")
	flags.BoolVar(&setUser, "set-workload-user-id", false, "run restricted catalog pods as user 1001 (default: as the user of the image)")
	cmd.PreRun = func(*cobra.Command, []string) {
		if setUser {
			o.Settings.RunAsUser = workloadUser
		}
	}
}
