package image

// CheckReference tells what is wrong with an image reference, without asking anybody for the image.
func CheckReference(ref string) error {
	_, err := parseReference(ref)
	return err
}
