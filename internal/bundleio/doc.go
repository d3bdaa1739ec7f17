// Package bundleio is where bundles come from and go to: directories, images in registries, images on disk, and ConfigMaps. It moves
// files and judges nothing itself: bundle/validate does, and scaffold and configmap decide what files hold.
//
// It never overwrites a file that it did not write, and never writes outside the directory that it is given. Start reading at Open.
package bundleio
