package install

// config is the directory of the manifests.
const config = "../../config"
