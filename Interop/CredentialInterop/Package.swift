// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "CredentialInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaCredentialInterop", targets: ["VestaCredentialInterop"]),
    .library(name: "VestaCredentialInteropContracts", targets: ["VestaCredentialInteropContracts"]),
    .library(name: "VestaCredentialInteropFakes", targets: ["VestaCredentialInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core")
  ],
  targets: [
    .target(name: "VestaCredentialInterop", swiftSettings: settings),
    .target(
      name: "VestaCredentialInteropContracts",
      dependencies: ["VestaCredentialInterop", .product(name: "VestaTesting", package: "Core")],
      swiftSettings: settings
    ),
    .target(
      name: "VestaCredentialInteropFakes",
      dependencies: ["VestaCredentialInterop", .product(name: "VestaConcurrency", package: "Core")],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaCredentialInteropTests",
      dependencies: [
        "VestaCredentialInterop", "VestaCredentialInteropContracts", "VestaCredentialInteropFakes",
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
