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
  name: "ListenerInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaListenerInterop", targets: ["VestaListenerInterop"]),
    .library(name: "VestaListenerInteropContracts", targets: ["VestaListenerInteropContracts"]),
    .library(name: "VestaListenerInteropFakes", targets: ["VestaListenerInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core")
  ],
  targets: [
    .target(
      name: "VestaListenerInterop", dependencies: [.product(name: "VestaConcurrency", package: "Core")],
      swiftSettings: settings),
    .target(
      name: "VestaListenerInteropContracts",
      dependencies: ["VestaListenerInterop", .product(name: "VestaTesting", package: "Core")], swiftSettings: settings),
    .target(
      name: "VestaListenerInteropFakes",
      dependencies: ["VestaListenerInterop", .product(name: "VestaTesting", package: "Core")], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
