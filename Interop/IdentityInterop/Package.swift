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
  name: "IdentityInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "IdentityInterop", targets: ["IdentityInterop"]),
    .library(name: "IdentityInteropContracts", targets: ["IdentityInteropContracts"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop")
  ],
  targets: [
    .target(name: "IdentityInterop", swiftSettings: settings),
    .target(
      name: "IdentityInteropContracts",
      dependencies: ["IdentityInterop", .product(name: "ContractInterop", package: "ContractInterop")],
      swiftSettings: settings
    ),
    .testTarget(
      name: "IdentityInteropTests",
      dependencies: [
        "IdentityInterop", "IdentityInteropContracts",
        .product(name: "ContractInterop", package: "ContractInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
