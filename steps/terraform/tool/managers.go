package tool

// The program that PATH has may be the proxy of a version manager, which finds the real one
// by variables of its own. Those that choose a version, or say where versions and the
// choice lie, pass by name: a prefix would let through what downloads, from where, what is
// verified, and code that is run (BASHLOG_* of tfenv).

// Choosing are the variables of version managers that pass.
func Choosing() []string {
	return []string{
		// tenv, for tofu and terraform; tfenv
		"TENV_ROOT", "TOFUENV_ROOT", "TFENV_ROOT", "TFENV_CONFIG_DIR",
		"TOFUENV_TOFU_VERSION", "TOFUENV_TOFU_DEFAULT_VERSION", "TOFUENV_TOFU_DEFAULT_CONSTRAINT",
		"TFENV_TERRAFORM_VERSION", "TFENV_TERRAFORM_DEFAULT_VERSION", "TFENV_TERRAFORM_DEFAULT_CONSTRAINT",
		// asdf, by the names of its plugins
		"ASDF_DIR", "ASDF_DATA_DIR", "ASDF_CONFIG_FILE", "ASDF_TOOL_VERSIONS_FILENAME", "ASDF_DEFAULT_TOOL_VERSIONS_FILENAME",
		"ASDF_OPENTOFU_VERSION", "ASDF_TERRAFORM_VERSION",
		// mise, by the names of its tools
		"MISE_DATA_DIR", "MISE_CONFIG_DIR", "MISE_CACHE_DIR", "MISE_STATE_DIR", "MISE_INSTALLS_DIR", "MISE_SYSTEM_CONFIG_DIR", "MISE_SYSTEM_DATA_DIR",
		"MISE_OPENTOFU_VERSION", "MISE_TERRAFORM_VERSION",
	}
}

// noInstall keeps a proxy from fetching a version that is not there, as tfenv and mise would
// by themselves: a probe reads, and what runs is there before it.
func noInstall() []string {
	return []string{
		"TENV_AUTO_INSTALL=false", "TOFUENV_AUTO_INSTALL=false", "TFENV_AUTO_INSTALL=false",
		"MISE_AUTO_INSTALL=false", "MISE_EXEC_AUTO_INSTALL=false", "MISE_NOT_FOUND_AUTO_INSTALL=false",
	}
}
