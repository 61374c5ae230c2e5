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
  name: "AppCheckInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaAppCheckInterop", targets: ["VestaAppCheckInterop"]),
    .library(name: "VestaAppCheckInteropContracts", targets: ["VestaAppCheckInteropContracts"]),
    .library(name: "VestaAppCheckInteropFakes", targets: ["VestaAppCheckInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core")
  ],
  targets: [
    .target(
      name: "VestaAppCheckInterop",
      dependencies: [.product(name: "VestaConcurrency", package: "Core")],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAppCheckInteropContracts",
      dependencies: [
        "VestaAppCheckInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAppCheckInteropFakes",
      dependencies: [
        "VestaAppCheckInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAppCheckInteropTests",
      dependencies: [
        "VestaAppCheckInterop", "VestaAppCheckInteropContracts", "VestaAppCheckInteropFakes",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
