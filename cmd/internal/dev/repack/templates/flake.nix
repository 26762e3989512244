{
  description = "{{.Summary}}";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }: {
    packages = builtins.mapAttrs
      (system: archive:
        let pkgs = nixpkgs.legacyPackages.${system};
        in {
          default = pkgs.stdenvNoCC.mkDerivation {
            pname = "{{.Name}}";
            version = "{{.Version}}";
            src = pkgs.fetchurl archive;
            dontFixup = true; # the programs are static
            installPhase = ''
              mkdir -p $out
              cp -R bin share $out/
            '';
            meta = {
              description = "{{.Summary}}";
              homepage = "{{.Homepage}}";
              license = "{{.License}}";
              mainProgram = "proxy";
            };
          };
        })
      {
{{- range .Archives}}
        {{.CPU.Nix}}-{{.System.Nix}} = {
          url = "{{.URL}}";
          sha256 = "{{.SHA256}}";
        };
{{- end}}
      };
  };
}
